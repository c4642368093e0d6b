package sparkkinesis.source.plan

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.source.checkpoint.OffsetCodec
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits, ShardRange}

/** `Trigger.Once` over streams that were split and merged, read in any order and by any steps. */
class OneBatchSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** @param marks that reading each shard would find; those of a shard arrive after its ancestors' */
  private case class Stream(graph: Vector[Shard], marks: Map[ShardId, Vector[Mark]], stop: Long) {
    val parents: Map[ShardId, Set[ShardId]] = graph.map(s => s.id -> s.parents.toSet).toMap
    val start: SourceOffset = only(
      StreamOffset(
        arn,
        Instant.EPOCH,
        SortedMap.from(graph.collect {
          case shard if shard.parents.isEmpty =>
            shard.id -> ShardProgress(Progress.TrimHorizon, Set.empty)
        })
      )
    )

    def due(id: ShardId): Vector[Mark] = marks(id).takeWhile(_.lastArrivalMillis <= stop)

    private def isEnded(id: ShardId): Boolean =
      isReadable(id) && due(id).lastOption.exists(_.upTo == Progress.Finished)

    def isReadable(id: ShardId): Boolean = parents(id).forall(isEnded)

    def children(id: ShardId): Seq[ChildShard] =
      graph.filter(_.parents.contains(id)).map(s => ChildShard(s.id, s.parents, s.hashKeys))

    /** What the executors know when they have found so many marks of each shard. */
    def frontiers(offset: SourceOffset, found: ShardId => Int): Map[StreamShard, Frontier] =
      offset.readable.map { case (id, progress) =>
        val all = due(id.shard).take(found(id.shard))
        val behind = if (all.size == due(id.shard).size) 0 else 5000
        val ended =
          if (all.lastOption.exists(_.upTo == Progress.Finished)) children(id.shard) else Nil
        id -> Frontier(all, ended, behind.toLong, all.lastOption.fold(0L)(_.lastArrivalMillis))
          .after(progress)
      }
  }

  private def marksOf(shard: Shard): Gen[Vector[Mark]] = for {
    count <- Gen.choose(if (shard.isOpen) 0 else 1, 5)
  } yield Vector.tabulate(count) { index =>
    val isEnd = !shard.isOpen && index == count - 1
    val upTo = if (isEnd) Progress.Finished else Progress.After(SequenceNumber(s"${index + 1}"))
    Mark(
      upTo,
      if (isEnd) 0 else 1,
      10,
      100000L * shard.id.name.takeRight(3).toLong + 1000L * index + 1
    )
  }

  private val streams: Gen[Stream] = for {
    graph <- shardGraph
    marks <- Gen.sequence[Vector[Vector[Mark]], Vector[Mark]](graph.map(marksOf))
    stop <- Gen.choose(0L, 100000L * (graph.size + 1))
  } yield Stream(graph, graph.map(_.id).zip(marks).toMap, stop)

  /** Executors find a little more at a time, and run out of room now and then. */
  private def read(stream: Stream, seed: Long, fullness: Double): OneBatch = {
    val random = new Random(seed)
    @tailrec def further(batch: OneBatch, found: Map[ShardId, Int], steps: Int): OneBatch = {
      assert(steps < 1000, s"never ends: $batch")
      val next = batch.further(
        stream.frontiers(batch.tip, found.getOrElse(_, 0)),
        isFull = random.nextDouble() < fullness
      )
      if (next.isDone) next
      else {
        val more = stream.graph.map(s => s.id -> (found.getOrElse(s.id, 0) + random.nextInt(3)))
        further(next, more.toMap, steps + 1)
      }
    }
    further(OneBatch.from(stream.start, stream.stop), Map.empty, 0)
  }

  private val histories = Gen.zip(streams, Gen.long, Gen.oneOf(0.0, 0.3, 1.0))

  /** What a driver knows that was started anew: the two offsets, as they were logged. */
  private def logged(offset: SourceOffset) = OffsetCodec.decode(OffsetCodec.encode(offset))

  private def ranges(stream: Stream, batch: OneBatch): Seq[ShardRange] =
    BatchPlanner.ranges(logged(stream.start), logged(batch.end))

  private def marksIn(stream: Stream, range: ShardRange): Vector[Mark] = {
    val all = stream.marks(range.shard.shard)
    all.slice(all.indexWhere(_.upTo == range.from) + 1, all.indexWhere(_.upTo == range.upTo) + 1)
  }

  test("it has everything that had arrived, once, of every shard that could be read") {
    forAll(histories) { case (stream, seed, fullness) =>
      val all = ranges(stream, read(stream, seed, fullness))
      assert(all.map(_.shard) === all.map(_.shard).distinct.sorted)
      val found = all.map(range => range.shard.shard -> marksIn(stream, range)).toMap
      stream.graph.foreach { shard =>
        val due = if (stream.isReadable(shard.id)) stream.due(shard.id) else Vector.empty
        assert(found.getOrElse(shard.id, Vector.empty) === due, shard.id)
      }
    }
  }

  test("related shards are read one after the other by one task, each parent before its children") {
    forAll(histories) { case (stream, seed, fullness) =>
      val batch = read(stream, seed, fullness)
      val all = ranges(stream, batch)
      val chains = Lineage.chains(all, logged(batch.end))
      assert(chains.flatten.sortBy(_.shard) === all)
      val place = chains.zipWithIndex.flatMap { case (chain, task) =>
        chain.zipWithIndex.map { case (range, order) => range.shard.shard -> (task -> order) }
      }.toMap
      for {
        (child, (task, order)) <- place
        (parentTask, before) <- stream.parents(child).flatMap(place.get)
      } assert(parentTask === task && before < order, s"$child in $chains")
    }
  }

  test("what is not related is not read one after the other") {
    val shards = newStream(3).map(shard =>
      ShardRange(StreamShard(arn, shard.id), Progress.TrimHorizon, Progress.Finished)
    )
    val waiting = shardId(9) -> ShardProgress(Progress.TrimHorizon, Set(shardId(0), shardId(1)))
    val end = only(StreamOffset(arn, Instant.EPOCH, SortedMap(waiting)))
    assert(Lineage.chains(shards, end) === shards.map(Vector(_)), "the child itself is not read")
  }

  test("the next batch goes on where it ends, as if there had been several") {
    forAll(histories) { case (stream, seed, fullness) =>
      val batch = read(stream, seed, fullness)
      val rest = stream.copy(stop = Long.MaxValue)
      @tailrec def more(from: SourceOffset, before: Vector[ShardRange]): Vector[ShardRange] = {
        val end = BatchPlanner.end(from, rest.frontiers(from, _ => 99), ReadLimits.None)
        if (end eq from) before else more(end, before ++ BatchPlanner.ranges(from, end))
      }
      val all = more(logged(batch.end), ranges(stream, batch).toVector)
      val found =
        all.groupMap(_.shard.shard)(marksIn(rest, _)).transform((_, marks) => marks.flatten)
      stream.graph.foreach(s => assert(found.getOrElse(s.id, Vector.empty) === stream.marks(s.id)))
    }
  }

  test("pages are let go where executors have no room, and kept where they have") {
    forAll(streams, Gen.long) { (stream, seed) =>
      val kept = read(stream, seed, fullness = 0).pagesFrom
      assert(stream.start.readable.forall { case (id, from) =>
        kept.shard(id).exists(_.progress == from)
      })
    }
    val long = Stream(
      newStream(1),
      Map(shardId(0) -> Vector.tabulate(3) { n =>
        Mark(Progress.After(SequenceNumber(s"${n + 1}")), 1, 1, n.toLong)
      }),
      9
    )
    val first = OneBatch.from(long.start, 9)
    val some = long.frontiers(long.start, _ => 2)
    assert(first.further(some, isFull = false) eq first, "it waits for the rest")
    val full = first.further(some, isFull = true)
    assert(
      full.pagesFrom === full.tip && full.tip.readable(shardOf(0)) === long.due(shardId(0))(1).upTo
    )
  }

  test("where nothing had arrived, the end is the settled start itself") {
    val stream =
      Stream(newStream(2), Map.empty[ShardId, Vector[Mark]].withDefaultValue(Vector.empty), 9)
    assert(read(stream, 1, 0.5).end eq stream.start.settled)
  }

  test("a child is complete as of its parents' last records") {
    val stream = Stream(
      Vector(
        newStream(1).head,
        Shard(shardId(1), Seq(shardId(0)), HashKeyRange.All, SequenceNumber("9"), None)
      ),
      Map(
        shardId(0) -> Vector(Mark(Progress.Finished, 1, 1, 500)),
        shardId(1) -> Vector(Mark(Progress.After(SequenceNumber("10")), 1, 1, 700))
      ),
      900
    )
    val of = ranges(stream, read(stream, 1, 0)).map(r =>
      r.shard.shard -> r.completeAsOf.map(_.toEpochMilli)
    )
    assert(of === Seq(shardId(0) -> None, shardId(1) -> Some(500)))
  }
}
