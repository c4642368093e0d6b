package sparkkinesis.source

import scala.concurrent.duration._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.client.SystemClock
import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, StreamOffset}
import sparkkinesis.shard.feed.{ReadStep, ShardRangeReader}
import sparkkinesis.shard.{ReadSettings, ShardRange, StreamClient}
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.source.fetch.Steps._
import sparkkinesis.source.fetch.{FetchedPage, ShardFetcher}
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.protocol.{Assignment, ReadLimits}
import sparkkinesis.source.store.Stores

/**
 * Iterators that expire: in a query that pauses, in a shard without records, and in a range that a
 * task reads again slowly. The service's time is simulated.
 */
class ExpiringSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(30, Seconds), Span(10, Millis))

  private val name = StreamName("orders")
  private val stream = StreamRef.ByName(name)
  private val settings = ReadAheadFixture.Settings

  /** A shard with numbered records of one kilobyte. The buffer has room for some of its pages. */
  private class Fixture(records: Int) {
    val clock = new SimulatedClock(SystemClock.now) // the fetchers go by that one
    val kinesis = new SimulatedKinesis(clock)
    kinesis.createStream(name, 1)
    (1 to records).foreach { number =>
      kinesis.putRecord(name, PutEntry("k", s"$number ".padTo(1000, '.').getBytes, None))
    }

    def calls(operation: String): Long = kinesis.statistics.snapshot.calls.getOrElse(operation, 0L)

    val access: StreamClient = StreamClient(stream, kinesis)
    val start: StreamOffset = ReadAheadFixture.oldest(access, clock)
    val shard: StreamShard = StreamShard(start.stream, start.shards.firstKey)
  }

  private def number(record: Record): Int = new String(record.data).takeWhile(_ != ' ').toInt

  /** A query that reads ahead, and whose batches the test starts. */
  private class Query(fixture: Fixture)
      extends ReadAheadFixture(fixture.access, fixture.start, settings) {
    private var end = begin
    var rows: Vector[Int] = Vector.empty[Int]

    def isFull: Boolean = store.bytes > settings.bufferBytes.get - 64 * 1024

    def state: String =
      s"${rows.size} rows, ${store.bytes} B, ${driver.counters}, ${driver.executors.failure}"

    def awaitNews(): Unit =
      eventually(assert(BatchPlanner.end(end, driver.frontiers, ReadLimits.None) ne end))

    /** Reads a batch of all buffered records, and drops its pages. */
    def runBatch(): Unit = {
      val next = BatchPlanner.end(end, driver.frontiers, ReadLimits.None)
      rows ++= BatchPlanner.ranges(end, next).flatMap { range =>
        Stores.records(store, range).get.map(number)
      }
      driver.advance(end, next)
      driver.advance(next, next)
      end = next
    }
  }

  test("a query that pauses until its iterators expire continues where it was, and counts them") {
    val fixture = new Fixture(200)
    val query = new Query(fixture)
    try {
      var pauses = 0
      while (query.rows.size < 200) {
        query.awaitNews()
        if (query.rows.size < 100) {
          eventually(assert(query.isFull, query.state))
          fixture.clock.advance(6.minutes)
          pauses += 1
        }
        query.runBatch()
      }
      assert(query.rows === (1 to 200), "no record lost, none twice")
      assert(pauses >= 2)
      eventually(assert(query.driver.counters.iteratorsExpired >= 2))
      assert(fixture.calls("GetShardIterator") === 1 + query.driver.counters.iteratorsExpired)
    } finally query.close()
  }

  test("a shard without records for a day keeps its iterator") {
    val fixture = new Fixture(0)
    val store = Stores.of(settings)
    val assignment = Assignment(fixture.shard, 1, Progress.TrimHorizon)
    val fetcher = new ShardFetcher(
      fixture.access,
      assignment,
      store,
      settings.copy(reads = settings.reads.copy(minPeriod = 200.millis, idlePeriod = 1.minute)),
      () => 0.5
    )
    val end = fixture.clock.now.plusSeconds(24 * 3600)
    while (fixture.clock.now.isBefore(end))
      fetcher.step(fixture.clock.moment) match {
        case ReadStep.Read(FetchedPage(_, 0, _), pause) => fixture.clock.advance(pause)
        case other => fail(s"no page: $other")
      }
    assert(fixture.calls("GetShardIterator") === 1 && fixture.calls("GetRecords") > 1000)
  }

  test("the longest pause between two calls is shorter than the lifetime of an iterator") {
    val longest = ReadSettings().pause(365.days)
    assert(longest * 2 < ServiceLimits.IteratorLifetime)
  }

  test("a task that reads a range more slowly than its iterators expire gets each record once") {
    val fixture = new Fixture(55)
    val reader = new ShardRangeReader(
      fixture.access,
      settings.reads,
      fixture.clock,
      () => false
    )
    val last = lastNumber(fixture)
    val pages = reader.pages(ShardRange(fixture.shard, Progress.TrimHorizon, Progress.After(last)))
    val rows = pages.flatMap { case (_, page) =>
      fixture.clock.advance(6.minutes)
      page.map(number).toVector
    }.toVector
    assert(rows === (1 to 55))
    assert(fixture.calls("GetShardIterator") === 1 + 1 + 5, "one by the test itself")
  }

  private def lastNumber(fixture: Fixture): SequenceNumber = {
    val iterator =
      fixture.kinesis.shardIterator(stream, fixture.shard.shard, Position.TrimHorizon)
    fixture.kinesis.getRecords(stream, iterator, 10000).records.last.sequenceNumber
  }
}
