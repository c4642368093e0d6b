package sparkkinesis.source.replay

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{KinesisClient, Moment}
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{SequenceNumber, StreamShard}
import sparkkinesis.shard.feed.{ReadStep, ShardRangeReader}
import sparkkinesis.shard.{DataLossException, ReadSettings, ShardRange, StreamClient}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.checkpoint.OffsetCodec
import sparkkinesis.source.fetch.Steps._
import sparkkinesis.source.fetch.{FetchedPage, ShardFetcher}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.{BatchPlanner, ReadAheadDriver}
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.Stores
import sparkkinesis.source.{OneShard, ScriptedKinesis}

/** The first batch of a shard is a fixed set, too, though its start has no sequence number. */
class FirstBatchSuite extends AnyFunSuite {
  private val shard = StreamShard(arn, shardId(0))
  private val settings =
    FetchSettings(
      ReadSettings(2, 200.millis, 1.second),
      bufferBytes = Some(1000000),
      spillBytes = 0,
      limits = ReadLimits.None
    )
  private val begin = Moment(Instant.EPOCH, Instant.EPOCH)
  private def number(value: Int) = SequenceNumber(value.toString)
  private def upTo(value: Int): Progress = Progress.After(number(value))

  private val starts = Seq[Progress](
    Progress.TrimHorizon,
    Progress.AtTimestamp(Instant.EPOCH),
    Progress.From(number(1))
  )

  private def offsetAt(progress: Progress) = SourceOffset.of(
    Seq(
      StreamOffset(
        arn,
        Instant.EPOCH,
        SortedMap(shard.shard -> ShardProgress(progress, Set.empty))
      )
    )
  )

  /** What the executor finds in one call after another. */
  private def found(kinesis: KinesisClient, from: Progress, calls: Int): ReadAheadDriver = {
    val driver = new ReadAheadDriver(10.seconds)
    driver.advance(offsetAt(from), offsetAt(from))
    def heard(reports: FetchReport*) = driver.answer(
      Heartbeat("a", "host", reports.toVector, FetchCounters.Zero, None, reports.size.toLong)
    )
    val fetchers = heard().plan.toSeq.flatMap(_.assignments).map { assignment =>
      new ShardFetcher(
        StreamClient(stream, kinesis),
        assignment,
        Stores.inMemory(1000000),
        settings,
        () => 0.5
      )
    }
    for (fetcher <- fetchers; _ <- 1 to calls) fetcher.step(begin) match {
      case ReadStep.Read(FetchedPage(report, _, _), _) => heard(report)
      case other => fail(s"not fetched: $other")
    }
    driver
  }

  private def firstOf(offset: SourceOffset) = offset.shard(shard).flatMap(_.first)

  test("the first batch of a shard knows its first record, also after a restart; no later one") {
    starts.foreach { start =>
      def pages = new ScriptedKinesis().page(page(1 to 0)).page(page(1 to 2)).page(page(3 to 4))
      val driver = found(pages, start, calls = 3)
      val end = BatchPlanner.end(offsetAt(start), driver.frontiers, ReadLimits(Some(2), None))
      assert(firstOf(end) === Some(number(1)))
      val again = OffsetCodec.decode(OffsetCodec.encode(end))
      val expected = ShardRange(shard, start, upTo(2), first = Some(number(1)))
      assert(BatchPlanner.ranges(offsetAt(start), again) === Seq(expected))
      driver.advance(offsetAt(start), end)
      val next = BatchPlanner.end(end, driver.frontiers, ReadLimits.None)
      assert(firstOf(next) === None)
      assert(BatchPlanner.ranges(end, next).map(_.start) === Seq(upTo(2)))
    }
  }

  private def range(from: Progress, to: Progress) =
    ShardRange(shard, from, to, first = Some(number(1)))

  private def read(
      kinesis: KinesisClient,
      range: ShardRange,
      reads: ReadSettings = settings.reads
  ): (Seq[Int], Long) = {
    val reader = new ShardRangeReader(
      StreamClient(stream, kinesis),
      reads,
      new FastClock,
      () => false
    )
    val records = reader.pages(range).flatMap(_._2).map(_.sequenceNumber.text.toInt).toVector
    records -> reader.lostRanges
  }

  private val lenient = settings.reads.copy(failOnDataLoss = false)

  test("a first batch that is read again after some of it was trimmed is a loss") {
    val records = recordsOf(1 to 5).toVector
    for (start <- starts; (end, isClosed) <- Seq(upTo(4) -> false, Progress.Finished -> true)) {
      def kinesis(trimmed: Int) = new OneShard(records, trimmed, isClosed)
      val all = if (isClosed) 1 to 5 else 1 to 4
      assert(read(kinesis(0), range(start, end)) === ((all, 0)))
      val loss = intercept[DataLossException](read(kinesis(2), range(start, end)))
      assert(loss.condition === "KINESIS_DATA_LOSS" && loss.getMessage.contains("first record, 1,"))
      assert(read(kinesis(2), range(start, end), lenient) === ((all.drop(2), 1)))
    }
  }

  test("a first batch that reaches the end of a shard without a record is a loss") {
    val all = new OneShard(recordsOf(1 to 5).toVector, trimmed = 5, isClosed = true)
    assertThrows[DataLossException](read(all, range(Progress.TrimHorizon, Progress.Finished)))
    assert(read(all, range(Progress.TrimHorizon, Progress.Finished), lenient) === ((Nil, 1)))
  }

  test("a later first record is a loss only if a second look confirms it") {
    val kinesis = new ScriptedKinesis().page(page(2 to 3)).page(page(1 to 2)).page(page(3 to 3))
    assert(read(kinesis, range(Progress.TrimHorizon, upTo(3))) === ((1 to 3, 0)))
  }

  test("pages that begin at another record are not the pages of a first batch") {
    def buffered(numbers: Range) = {
      val store = Stores.inMemory(1000000)
      val fetcher = new ShardFetcher(
        StreamClient(stream, new ScriptedKinesis().page(page(numbers))),
        Assignment(shard, 1, Progress.TrimHorizon),
        store,
        settings,
        () => 0.5
      )
      fetcher.step(begin)
      Stores
        .records(store, range(Progress.TrimHorizon, upTo(3)))
        .map(_.map(_.sequenceNumber.text.toInt))
    }
    assert(buffered(2 to 3) === None)
    assert(buffered(0 to 4) === Some(1 to 3))
    assert(buffered(1 to 4) === Some(1 to 3))
  }
}
