package sparkkinesis.source.fetch

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{Moment, Page, ShardIterator, StreamSummary}
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{Position, Record, SequenceNumber, ShardId, StreamRef}
import sparkkinesis.shard.feed.FeedCounts
import sparkkinesis.shard.{FetchMemory, ReadSettings, StreamClient}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.{BatchPlanner, ReadAheadDriver, ShardSkew}
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.PageStore
import sparkkinesis.source.{ReadOnlyKinesis, ScriptedKinesis}

/** Shards that advance together share a small store: the oldest must be read before the others. */
class SkewedFetchersSuite extends AnyFunSuite {
  private val skew = 10.seconds
  private val shards = 6
  private val count = 50
  private val settings =
    FetchSettings(
      ReadSettings(5, 200.millis, 1.second),
      bufferBytes = Some(2000),
      spillBytes = 0,
      limits = ReadLimits.None,
      maxShardSkew = Some(skew)
    )

  /** The records of the first shard are the oldest, and it is throttled for a while. */
  private final class Uneven(throttled: Int) extends ReadOnlyKinesis {
    private var refusals = 0
    private val records: Map[ShardId, Vector[Record]] = (0 until shards).map { id =>
      val begin = if (id == 0) 1000L else 1000000L
      shardId(id) -> (1 to count).toVector.map { number =>
        record(number.toLong, 10).copy(arrivalMillis = begin + number * 1000)
      }
    }.toMap

    override def describeStream(stream: StreamRef): StreamSummary =
      ScriptedKinesis.summary(retention = 100000.days)

    override def shardIterator(s: StreamRef, shard: ShardId, at: Position): ShardIterator =
      at match {
        case Position.AfterSequenceNumber(number) => ShardIterator(s"${shard.name}:${number.text}")
        case _ => ShardIterator(s"${shard.name}:0")
      }

    override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
      val (name, begin) = (iterator.token.takeWhile(_ != ':'), first(iterator))
      if (name == shardId(0).name && refusals < throttled) {
        refusals += 1
        throw ScriptedKinesis.Throttled
      }
      val end = math.min(begin + limit, count)
      val page = records(ShardId(name)).slice(begin, end)
      Page(page, Some(ShardIterator(s"$name:$end")), (count - end).toLong, Nil)
    }

    private def first(iterator: ShardIterator): Int =
      iterator.token.dropWhile(_ != ':').drop(1).toInt
  }

  /** An executor whose runs and heartbeats are carried out at once. */
  private final class Executor(kinesis: Uneven, heartbeat: Heartbeat => HeartbeatReply) {
    val store = new PageStore(new FetchMemory().join(2000))
    private val loop = new FetchLoop(
      "a",
      "host",
      "service",
      "orders",
      settings,
      store,
      (assignment, ofPlan) =>
        new ShardFetcher(StreamClient(stream, kinesis), assignment, store, ofPlan, () => 0.5),
      FeedCounts.Unread,
      () => 0.5
    )

    def tick(millis: Long): Unit = {
      val at = Moment(Instant.ofEpochMilli(millis), Instant.ofEpochMilli(millis))
      def carryOut(commands: Vector[FetchCommand]): Unit = commands.foreach {
        case FetchCommand.Run(fetcher) => carryOut(loop.ran(fetcher, Try(fetcher.run(at)), at, at))
        case FetchCommand.Beat(status) =>
          carryOut(loop.replied(status, Some(heartbeat(status)), at))
        case FetchCommand.Finish => fail("it has ended")
      }
      carryOut(loop.tick(at))
    }
  }

  private val start = SourceOffset.of(
    Seq(
      StreamOffset(
        arn,
        Instant.EPOCH,
        SortedMap.from((0 until shards).map { id =>
          shardId(id) -> ShardProgress(Progress.TrimHorizon, Set.empty)
        })
      )
    )
  )

  private def isRead(offset: SourceOffset): Boolean =
    offset.readable.values.forall(_ == Progress.After(SequenceNumber(count.toString)))

  test("a store that is full of later records does not stop the query") {
    val driver = new ReadAheadDriver(10.seconds)
    val executor = new Executor(new Uneven(throttled = 30), driver.answer(_))
    @tailrec
    def batches(from: SourceOffset, round: Int): Unit = if (!isRead(from)) {
      assert(round < 2000, s"the query does not continue after $from")
      driver.advance(from, from)
      executor.tick(round * 1000L)
      val taken = ShardSkew.limited(from, driver.frontiers, ReadLimits.None, skew)._1
      batches(BatchPlanner.end(from, taken, ReadLimits.None), round + 1)
    }
    batches(start, 0)
  }

  test("a shard that was assigned again is the oldest until it is read, whatever was read before") {
    val late = Some(Instant.ofEpochMilli(9000000))
    val assigned = Seq(1 -> None, 2 -> late).map { case (id, completeAsOf) =>
      Assignment(shardOf(id), id.toLong, Progress.TrimHorizon, completeAsOf)
    }
    val plan = FetchPlan(assigned.toVector, Map.empty)
    val executor =
      new Executor(new Uneven(throttled = 0), _ => HeartbeatReply(1, isStopped = false, Some(plan)))
    // The page of the first shard fills the store.
    (1L to 2L).foreach(executor.tick(_))
    assert(executor.store.shards === Set(shardOf(1), shardOf(2)))
  }
}
