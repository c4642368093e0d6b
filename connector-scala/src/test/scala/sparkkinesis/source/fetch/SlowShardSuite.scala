package sparkkinesis.source.fetch

import java.time.Instant
import java.util.concurrent.CountDownLatch

import scala.collection.immutable.SortedMap
import scala.collection.mutable
import scala.concurrent.duration._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.model.{Position, ShardId, StreamRef}
import sparkkinesis.shard.feed.ReadStep
import sparkkinesis.shard.{ReadSettings, StreamClient}
import sparkkinesis.source.ScriptedKinesis.{Throttled, recordsOf}
import sparkkinesis.source.fetch.Steps._
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.ReadAheadDriver
import sparkkinesis.source.protocol.{Assignment, ReadLimits}
import sparkkinesis.source.store.Stores
import sparkkinesis.source.{OneShard, ReadOnlyKinesis}

/**
 * One shard with failures
 *   - does not change the pace of any other shard;
 *   - occupies at most one thread, for any number of shards;
 *   - continues at its position after the failures.
 */
class SlowShardSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(30, Seconds), Span(10, Millis))

  private val settings = FetchSettings(
    ReadSettings(10, 200.millis, 1.second),
    bufferBytes = Some(256L << 20),
    spillBytes = 0,
    limits = ReadLimits.None
  )
  private val records = recordsOf(1 to 50).toVector

  /** Many shards with the same records. */
  private class Shards(trouble: ShardId => Unit) extends ReadOnlyKinesis {
    private val one = new OneShard(records)

    override def describeStream(stream: StreamRef): StreamSummary = one.describeStream(stream)

    override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator =
      ShardIterator(s"${shard.name} ${one.shardIterator(s, shard, p).token}")

    override def getRecords(stream: StreamRef, iterator: ShardIterator, limit: Int): Page = {
      val (shard, place) = iterator.token.splitAt(iterator.token.indexOf(' '))
      trouble(ShardId(shard))
      val page = one.getRecords(stream, ShardIterator(place.trim), limit)
      page.copy(next = page.next.map(next => ShardIterator(s"$shard ${next.token}")))
    }
  }

  /** The times of the calls to each shard within two minutes of simulated time. */
  private def calls(slow: Option[ShardId]): Map[ShardId, Vector[Long]] = {
    val asked = mutable.Map.empty[ShardId, Vector[Long]].withDefaultValue(Vector.empty)
    var now = Instant.EPOCH
    val kinesis = new Shards({ shard =>
      asked(shard) :+= now.toEpochMilli
      if (slow.contains(shard)) throw Throttled
    })
    val store = Stores.of(settings)
    val due = mutable.Map.from((0 until 8).map { number =>
      val assignment = Assignment(shardOf(number), 1, Progress.TrimHorizon)
      new ShardFetcher(
        StreamClient(stream, kinesis),
        assignment,
        store,
        settings,
        () => 0.5
      ) -> 0L
    })
    while (due.values.min < 2.minutes.toMillis) {
      val (fetcher, at) = due.minBy { case (fetcher, at) => (at, fetcher.shard) }
      now = Instant.ofEpochMilli(at)
      val pause = fetcher.step(Moment(now, now), shards = 8) match {
        case ReadStep.Read(_, pause) => pause
        case ReadStep.Retries(_, delay) => delay
        case ReadStep.Paced(pause) => pause
        case other => fail(s"not read: $other")
      }
      due.update(fetcher, at + pause.toMillis)
    }
    asked.toMap
  }

  test("a shard that is always throttled does not change the times of the calls to other shards") {
    val slow = shardId(3)
    val (calm, troubled) = (calls(None), calls(Some(slow)))
    assert(calm - slow === troubled - slow)
    assert(calm(slow).size > 100 && troubled(slow).size < 40, "it is asked less, not more")
    assert(troubled(slow).last > 100000, "and never given up")
  }

  private class Running(kinesis: KinesisClient, shards: Int, bufferBytes: Long) {
    val driver = new ReadAheadDriver(1.minute)
    private val start = only(
      StreamOffset(
        arn,
        Instant.EPOCH,
        SortedMap.from((0 until shards).map { number =>
          shardId(number) -> ShardProgress(Progress.TrimHorizon, Set.empty[ShardId])
        })
      )
    )
    driver.advance(start, start)
    val service: FetchService = new FetchService(
      "a",
      "localhost",
      Map(arn -> StreamClient(stream, kinesis)),
      () => (),
      settings.copy(
        reads = settings.reads.copy(minPeriod = 1.milli, idlePeriod = 5.millis),
        bufferBytes = Some(bufferBytes)
      ),
      driver.answer(_),
      SystemClock
    ).start()

    def read(number: Int): Long =
      driver.frontiers.get(shardOf(number)).fold(0L)(_.marks.map(_.records).sum)
  }

  private def running(kinesis: KinesisClient, shards: Int, bufferBytes: Long = 256L << 20)(
      use: Running => Unit
  ): Unit = {
    val running = new Running(kinesis, shards, bufferBytes)
    try use(running)
    finally running.service.close()
  }

  test("40 of 60 shards hang: the other shards are read, and these after the calls return") {
    val stalled = (0 until 40).map(shardId).toSet
    val end = new CountDownLatch(1)
    val kinesis = new Shards(shard =>
      if (stalled(shard) && end.getCount > 0) {
        end.await()
        throw new KinesisException.Unreachable("cut by the attempt's time")
      }
    )
    running(kinesis, 60) { running =>
      eventually(assert((40 until 60).forall(running.read(_) === 50)))
      assert((0 until 40).forall(running.read(_) === 0))
      end.countDown()
      eventually(assert((0 until 60).forall(running.read(_) === 50)))
      assert(running.driver.counters.retried >= 40 && running.driver.executors.failure.isEmpty)
    }
  }

  test("calls that hang do not hold the store's room") {
    val end = new CountDownLatch(1)
    val kinesis = new Shards(shard => if (shard < shardId(5)) end.await())
    running(kinesis, 8, bufferBytes = 8L << 20) { running =>
      eventually(assert((5 until 8).forall(running.read(_) === 50)))
      end.countDown()
    }
  }

  test("if one shard is always throttled, the others finish, and the query does not fail") {
    val kinesis = new Shards(shard => if (shard == shardId(0)) throw Throttled)
    running(kinesis, 12) { running =>
      eventually(assert((1 until 12).forall(running.read(_) === 50)))
      eventually(assert(running.driver.counters.throttled >= 3))
      assert(running.read(0) === 0 && running.driver.executors.failure.isEmpty)
    }
  }
}
