package sparkkinesis.source.watch

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.util.Random

import sparkkinesis.Generators
import sparkkinesis.Generators.shardId
import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.shard.feed.ShardEnd
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}

/**
 * A stream that is split and merged, and a query that follows it. There are no records: each shard
 * is either read to its end or gone. Time is counted in steps.
 */
final class StreamLife(seed: Long) {
  import StreamLife._

  val random = new Random(seed)
  var time = 0
  private var all = Vector.empty[Owner]
  private val first = 1 + random.nextInt(3)
  HashKeyRange.even(first).foreach(all :+= newOwner(_, Nil))

  var offset: StreamOffset = StreamOffset(
    Generators.arn,
    Instant.EPOCH,
    SortedMap.from(all.map(_.id -> ShardProgress(Progress.TrimHorizon, Set.empty)))
  )

  /** Shards in the order in which they were read to their end or found gone. */
  var done: Vector[ShardId] = Vector.empty[ShardId]

  private def newOwner(range: HashKeyRange, parents: Seq[ShardId]) =
    Owner(shardId(all.size), parents, range, time, None)

  def parents(id: ShardId): Seq[ShardId] = all.find(_.id == id).toSeq.flatMap(_.parents)

  /** Time passes, and a reshard may happen. */
  def reshard(): Unit = {
    time += 1
    val open = all.filter(_.closed.isEmpty).sortBy(_.range.first)
    val index = random.nextInt(open.size)
    if (open.size < 7 && random.nextBoolean()) {
      val shard = open(index)
      val middle = (shard.range.first.value + shard.range.last.value) / 2 + 1
      val (low, high) = shard.range.splitAt(HashKey(middle))
      replace(Seq(shard), Seq(low, high))
    } else
      open.lift(index + 1).foreach { next =>
        replace(Seq(open(index), next), Seq(open(index).range.merge(next.range)))
      }
  }

  private def replace(parents: Seq[Owner], ranges: Seq[HashKeyRange]): Unit = {
    all = all.map(o => if (parents.contains(o)) o.copy(closed = Some(time)) else o)
    ranges.foreach(range => all :+= newOwner(range, parents.map(_.id)))
  }

  /**
   * @param asOf the time whose state it shows
   * @param retention how long closed shards are listed
   */
  def listing(asOf: Int = time, retention: Int = Forever): Vector[Shard] = all.collect {
    case o if o.created <= asOf && !isGone(o.id, retention) =>
      val last = o.closed.filter(_ <= asOf).map(_ => SequenceNumber("9"))
      Shard(o.id, o.parents, o.range, SequenceNumber("1"), last)
  }

  def isGone(id: ShardId, retention: Int): Boolean =
    !all.exists(o => o.id == id && o.closed.forall(time - _ <= retention))

  /** Finishes a random readable shard, if one has ended or is gone. */
  def read(retention: Int = Forever): Boolean = {
    val ended = offset.readable.keys.toVector.filter(id => all.exists(o => o.id == id && !o.isOpen))
    ended.nonEmpty && {
      val id = ended(random.nextInt(ended.size))
      done :+= id
      val whole = if (isGone(id, retention)) listing(retention = retention) else listing()
      val end = Frontier(EndMark, ShardEnd.childrenIn(whole, id), 0, 0)
      val frontiers = Map(StreamShard(offset.stream, id) -> end)
      offset = BatchPlanner
        .end(SourceOffset.of(Seq(offset)), frontiers, ReadLimits.None)
        .streams(offset.stream)
      true
    }
  }

  def actAtRandom(): Unit = if (random.nextBoolean()) reshard() else { read(); () }
}

object StreamLife {
  private val Forever = 1000000
  private val EndMark = Vector(Mark(Progress.Finished, 0, 0, 0))

  private final case class Owner(
      id: ShardId,
      parents: Seq[ShardId],
      range: HashKeyRange,
      created: Int,
      closed: Option[Int]
  ) {
    def isOpen: Boolean = closed.isEmpty
  }
}
