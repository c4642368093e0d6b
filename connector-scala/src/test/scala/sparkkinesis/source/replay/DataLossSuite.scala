package sparkkinesis.source.replay

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{Moment, Page, ShardIterator}
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{PackedRecords, Record, SequenceNumber, StreamShard}
import sparkkinesis.shard.feed.{FeedCounts, ReadStep, ShardRangeReader}
import sparkkinesis.shard.{
  DataLoss,
  DataLossException,
  FetchMemory,
  ReadSettings,
  ShardRange,
  StreamClient
}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.fetch.Steps._
import sparkkinesis.source.fetch.{FetchedPage, Heartbeats, ShardFetcher}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.ReadAheadDriver
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.{FakeSpill, PageStore, StoredPage, Stores}

/** Reports of lost records: their text, their count, and which executor sends them. */
class DataLossSuite extends AnyFunSuite {
  private val shard = StreamShard(arn, shardId(0))
  private val strict =
    FetchSettings(
      ReadSettings(100, 200.millis, 1.second),
      bufferBytes = Some(1000000),
      spillBytes = 0,
      limits = ReadLimits.None
    )
  private val lenient = strict.copy(reads = strict.reads.copy(failOnDataLoss = false))
  private val late = Instant.EPOCH.plusMillis((27.hours + 20.minutes).toMillis)

  test("durations are rounded up to the minute") {
    val texts = Seq(0.minutes, 1.second, 59.minutes, 60.minutes, 200.minutes, 199.minutes + 1.milli)
    assert(
      texts
        .map(DataLoss.text) === Seq("0 min", "1 min", "59 min", "1 h", "3 h 20 min", "3 h 20 min")
    )
  }

  test("the message has the extent of a loss, as far as it is known") {
    val complete = Some(Instant.EPOCH)
    assert(
      DataLoss.extent(complete, Some(24.hours), late) ===
        "the query had read all records up to 1970-01-01T00:00:00Z, and the stream retains " +
        "records for 24 h: up to 3 h 20 min of records may be missing"
    )
    assert(!DataLoss.extent(complete, None, late).contains("retains"))
    assert(DataLoss.extent(None, Some(24.hours), late).contains("not known"))
  }

  private def fetcher(
      kinesis: ScriptedKinesis,
      settings: FetchSettings,
      completeAsOf: Option[Instant]
  ) =
    new ShardFetcher(
      StreamClient(stream, kinesis),
      Assignment(shard, 1, Progress.TrimHorizon, completeAsOf),
      Stores.inMemory(1000000),
      settings,
      () => 0.5
    )

  test(
    "an executor that takes over a shard behind the retention period reports the loss"
  ) {
    val kinesis = new ScriptedKinesis().page(page(1 to 1)).summary(summary())
    fetcher(kinesis, strict, Some(Instant.EPOCH)).step(Moment(late, late)) match {
      case ReadStep.Loses(loss) =>
        Seq("KINESIS_DATA_LOSS" -> loss.condition, "up to 3 h 20 min" -> loss.getMessage).foreach {
          case (word, text) => assert(text.contains(word))
        }
        assert(
          loss.getMessage.contains(shard.shard.name) && loss.getMessage.contains(stream.toString)
        )
      case other => fail(s"not lost: $other")
    }
    val young = fetcher(new ScriptedKinesis().page(page(1 to 1)), strict, Some(late))
    assert(young.step(Moment(late, late)).isInstanceOf[ReadStep.Read[_]])
  }

  test("a tolerated loss counts once until the reader has caught up") {
    val kinesis = new ScriptedKinesis().summary(summary())
    def empty = Page(Vector.empty, Some(ShardIterator("next")), Behind, Nil)
    kinesis.page(empty).page(empty).page(empty.copy(millisBehindLatest = Some(0))).page(empty)
    kinesis.summary(summary()).page(empty)
    val reader = fetcher(kinesis, lenient, Some(Instant.EPOCH))
    def lost(at: Instant) = reader.step(Moment(at, at)) match {
      case ReadStep.Read(FetchedPage(report, _, _), _) => report.lost
      case other => fail(s"not fetched: $other")
    }
    assert(Seq.fill(3)(lost(late)) === Seq(1, 0, 0))
    assert(lost(late) === 0)
    assert(lost(late.plusMillis(26.hours.toMillis)) === 1)
    val heartbeats = new Heartbeats("a", "host", "s", Stores.inMemory(1000), FeedCounts.Unread)
    val report = FetchReport(shard, 1, Progress.TrimHorizon, Vector.empty, Nil, 0, 0, lost = 1)
    (1 to 2).foreach(_ => heartbeats.add(report, 0, isUrgent = true))
    val counters = heartbeats.due(Moment(late, late), isWaiting = false).get.counters
    assert((counters + counters).lostRanges === 4)
  }

  test("a range that is read again counts its loss once per attempt") {
    val clock = new FastClock
    clock.pass(28.hours)
    val kinesis = new ScriptedKinesis().summary(summary()).page(throw Throttled).page(page(2 to 3))
    val reader = new ShardRangeReader(
      StreamClient(stream, kinesis),
      lenient.reads,
      clock,
      () => false
    )
    val upTo = Progress.After(SequenceNumber("3"))
    val range = ShardRange(shard, Progress.TrimHorizon, upTo, Some(Instant.EPOCH))
    assert(reader.pages(range).flatMap(_._2).size === 2 && reader.lostRanges === 1)
  }

  private def offset(completeAsOf: Option[Long]) = SourceOffset.of(
    Seq(
      StreamOffset(
        arn,
        Instant.EPOCH,
        SortedMap(
          shard.shard ->
            ShardProgress(Progress.TrimHorizon, Set.empty, completeAsOf.map(Instant.ofEpochMilli))
        )
      )
    )
  )

  private def heard(driver: ReadAheadDriver, executor: String, reports: FetchReport*) =
    driver
      .answer(Heartbeat(executor, "host", reports.toVector, FetchCounters.Zero, None, 0))
      .plan
      .fold(Vector.empty[Assignment])(_.assignments)

  /** The assignment of another executor after the first one has sent these reports and is lost. */
  private def takenOver(completeAsOf: Option[Long])(reports: (Vector[Mark], Long)*) = {
    val driver = new ReadAheadDriver(10.seconds)
    driver.advance(offset(completeAsOf), offset(completeAsOf))
    val first = heard(driver, "a").head
    val none = FetchReport(shard, 0, first.from, Vector.empty, Nil, 0, 0)
    val told = reports.scanLeft((first.from, none)) { case ((from, _), (marks, complete)) =>
      marks.lastOption.fold(from)(_.upTo) ->
        FetchReport(shard, first.generation, from, marks, Nil, 0, complete)
    }
    told.drop(1).foreach { case (_, report) =>
      val status = Heartbeat("a", "host", Vector(report), FetchCounters.Zero, None, 1)
      driver.answer(status)
    }
    driver.lost("a")
    heard(driver, "b").head.completeAsOf.map(_.toEpochMilli)
  }

  test("a lost page within a batch is judged by its first record, however old the one before is") {
    val day = 24.hours.toMillis
    val records = (1 to 3).map(n => record(n.toLong, 1 << 14).copy(arrivalMillis = n * day))
    val places = Progress.TrimHorizon +: records.map(after)
    val spill = new FakeSpill
    val store = new PageStore(new FetchMemory().join(0), 1 << 20, spill)
    Stores.openDisk(store)
    records.indices.foreach { index =>
      val page = PackedRecords(Vector(records(index)))
      store.add(shard, StoredPage(places(index), page, places(index + 1)))
    }
    spill.lose()
    val range = ShardRange(shard, places.head, places.last, Some(Instant.ofEpochMilli(day)))
    val parts = store.parts(range).get.map(_.range)
    assert(parts.map(_.completeAsOf.map(_.toEpochMilli)) === Seq(day, day, 2 * day).map(Some(_)))
    assert(parts.flatMap(_.first) === records.drop(1).map(_.sequenceNumber))
    def read(found: Record) = {
      val clock = new FastClock
      clock.pass((5 * day / 2).millis) // the first record is older than the retention period
      val kinesis = new ScriptedKinesis().summary(summary())
      (1 to 2).foreach(_ => kinesis.page(Page(Vector(found), Some(ShardIterator("next")), 0, Nil)))
      val reader =
        new ShardRangeReader(StreamClient(stream, kinesis), strict.reads, clock, () => false)
      reader.pages(parts(1)).flatMap(_._2).toSeq
    }
    assert(read(records(1)) === Seq(records(1)))
    assertThrows[DataLossException](read(records(2)))
  }

  private val some = Vector(Mark(Progress.After(SequenceNumber("7")), 1, 1, 90))

  test("an assignment contains the time up to which everything before its start was read") {
    val none = Vector.empty[Mark]
    assert(takenOver(None)() === None)
    assert(takenOver(Some(5))() === Some(5))
    assert(takenOver(Some(5))(none -> 50L) === Some(50), "nothing arrived meanwhile")
    assert(takenOver(Some(50))(none -> 0L) === Some(50))
    assert(takenOver(Some(5))(some -> 90L) === Some(5), "what was read is not planned")
    assert(takenOver(Some(5))(none -> 50L, some -> 90L) === Some(50))
  }
}
