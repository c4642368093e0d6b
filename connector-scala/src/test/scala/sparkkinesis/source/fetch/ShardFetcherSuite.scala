package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{KinesisException, Moment, Page, ResponseRoom, ShardIterator}
import sparkkinesis.model._
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.feed.ReadStep
import sparkkinesis.shard.feed.ReadStep._
import sparkkinesis.shard.pace.SharedReads
import sparkkinesis.shard.{FetchMemory, ReadSettings, ShardRange, StreamClient}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.fetch.Steps._
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, FetchReport, Mark, ReadLimits}
import sparkkinesis.source.store.{PageStore, StoredPage, Stores}
import sparkkinesis.source.{ReadOnlyKinesis, ScriptedKinesis}

/**
 * The fetcher of a shard
 *   - adds each page to the store and reports it;
 *   - marks places where a batch may end, close enough together for the limits;
 *   - continues after an empty page while it is behind the tip, and polls an idle shard less often;
 *   - gets a new iterator at the last position when one expires;
 *   - waits after each failure for a random time with a growing bound;
 *   - accepts a shard's end only with children, or if the shard is listed as closed;
 *   - fails or continues when a shard is gone, depending on `failOnDataLoss`;
 *   - makes no call while the store is full;
 *   - asks for no more than a part of its share of the store;
 *   - fails if failures last too long, or if it is behind the retention period;
 *   - with a stop time, reads no record after one that arrived more than a second later.
 */
class ShardFetcherSuite extends AnyFunSuite {
  private val shard = newStream(1).head
  private val id = StreamShard(arn, shard.id)
  private val closed = shard.copy(last = Some(SequenceNumber("999")))
  private val child = ChildShard(shardId(7), Seq(shard.id), HashKeyRange.All)
  private val listedChild = Shard(child.id, child.parents, child.hashKeys, shard.first, None)
  private val settings =
    FetchSettings(
      ReadSettings(100, 200.millis, 1.second),
      bufferBytes = Some(1000000),
      spillBytes = 0,
      limits = ReadLimits.None
    )
  private val now = Instant.ofEpochMilli(5000000)

  private class Fetching(
      val kinesis: ScriptedKinesis,
      settings: FetchSettings = settings,
      from: Progress = Progress.TrimHorizon,
      chance: Double = 0.5
  ) {
    val store: PageStore = Stores.of(settings)
    private var last = Option.empty[ReadStep[FetchedPage]]
    private var paused = 0L // seconds
    private val assignment = Assignment(id, 7, from)
    private val fetcher =
      new ShardFetcher(
        StreamClient(stream, kinesis),
        assignment,
        store,
        settings,
        () => chance
      )

    /** A step after any pause that the last refusal needs. */
    def step(at: Instant = now, shards: Int = 1): ReadStep[FetchedPage] = {
      last match {
        case Some(Retries(_: KinesisException.Throttled, _)) => paused += 100
        case _ => ()
      }
      nextStep(at, shards)
    }

    /** A step as soon as the fetcher is asked again. */
    def nextStep(at: Instant = now, shards: Int = 1): ReadStep[FetchedPage] = {
      val result = fetcher.step(Moment(at, at.plusSeconds(paused)), shards)
      last = Some(result)
      result
    }

    def fetched(at: Instant = now): FetchedPage = read(at).page

    def read(at: Instant = now): Read[FetchedPage] = step(at) match {
      case read @ Read(_, _) => read
      case other => fail(s"not fetched: $other")
    }

    def buffered(upTo: Progress): Option[Seq[Long]] =
      Stores
        .records(store, ShardRange(id, from, upTo))
        .map(_.map(_.sequenceNumber.text.toLong))
  }

  private def upTo(number: Int): Progress = Progress.After(SequenceNumber(number.toString))

  test("many shards share the memory: each asks for a quarter of its part, by its last records") {
    val memory = 64 * 1024 * 1024L
    val kinesis =
      new ScriptedKinesis().page(page(1 to 100)).page(page(101 to 200)).page(page(201 to 300))
    val all = settings.copy(settings.reads.copy(maxRecords = 10000), bufferBytes = Some(memory))
    val fetching = new Fetching(kinesis, all)
    fetching.step(shards = 16)
    val first = fetching.store.bytes
    fetching.step(shards = 40)
    val second = fetching.store.bytes - first
    fetching.step(shards = 10000) // no call is for less than its part of the quota
    val limits = Seq(
      memory / 64 / 1024,
      memory / 160 / (first / 100),
      ServiceLimits.ReadBytesPerSecond / 5 / (second / 100)
    )
    assert(kinesis.asked.map(_._2.toLong) === limits)
  }

  test("each page is buffered and reported, and starts where the last one ended") {
    val fetching = new Fetching(new ScriptedKinesis().page(page(1 to 3)).page(page(4 to 5)))
    val Read(first, pause) = fetching.read()
    val second = fetching.fetched()
    val (mark, record) = (Mark(upTo(3), 3, 30, 30, 10), Some(SequenceNumber("1")))
    val horizon = Progress.TrimHorizon
    assert(first.report === FetchReport(id, 7, horizon, Vector(mark), Nil, Behind, 30, 0, record))
    assert(first.records === 3 && first.isUrgent && pause === 200.millis)
    assert(second.report.from === upTo(3) && second.report.marks.map(_.upTo) === Seq(upTo(5)))
    assert(fetching.buffered(upTo(5)) === Some(1L to 5L))
    assert(fetching.kinesis.positions === Seq(Position.TrimHorizon), "one iterator is kept")
    assert(fetching.kinesis.asked.map(_._1.token) === Seq("taken-1", "next"))
    assert(fetching.kinesis.asked.map(_._2).toSet === Set(100))
  }

  test("records before the position are dropped from polled pages, and counted") {
    val at = Instant.ofEpochMilli(30)
    val starts = Seq[(Progress, Int)](
      Progress.TrimHorizon -> 1,
      Progress.From(SequenceNumber("3")) -> 3,
      Progress.AtTimestamp(at) -> 3,
      upTo(3) -> 4
    )
    starts.foreach { case (from, first) =>
      val fetching = new Fetching(new ScriptedKinesis().page(page(1 to 5)), from = from)
      val report = fetching.fetched().report
      assert(report.early === first - 1 && report.from === from)
      val stored = Stores.records(fetching.store, ShardRange(id, from, upTo(5)))
      assert(stored.map(_.map(_.sequenceNumber.text.toInt)) === Some(first to 5))
    }
  }

  test("from a time, an old record after a newer one is kept") {
    val records = recordsOf(1 to 4).zip(Seq(10L, 40L, 20L, 50L)).map { case (it, arrival) =>
      it.copy(arrivalMillis = arrival)
    }
    val kinesis = new ScriptedKinesis().page(page(1 to 4).copy(records = records))
    val fetching = new Fetching(kinesis, from = Progress.AtTimestamp(Instant.ofEpochMilli(30)))
    assert(fetching.fetched().records === 3)
  }

  test("a page with only older records is no end and no tip") {
    val kinesis = new ScriptedKinesis()
      .page(page(1 to 3, behind = 0))
      .page(page(4 to 5, behind = 0))
    val fetching = new Fetching(kinesis, from = upTo(3))
    val report = fetching.fetched().report
    assert(report.marks.isEmpty && report.millisBehindLatest === 1 && report.early === 3)
    assert(fetching.fetched().report.marks.map(_.upTo) === Seq(upTo(5)))
  }

  test("marks are at a fraction of the limits, and always at the end of a page") {
    val limited = settings.copy(limits = ReadLimits(Some(64), None))
    val marks =
      new Fetching(new ScriptedKinesis().page(page(1 to 5)), limited).fetched().report.marks
    assert(marks.map(_.upTo) === Seq(upTo(2), upTo(4), upTo(5)))
    assert(marks.map(_.records) === Seq(2, 2, 1) && marks.map(_.bytes) === Seq(20, 20, 10))
    assert(marks.map(_.lastArrivalMillis) === Seq(20, 40, 50))
    val byBytes = settings.copy(limits = ReadLimits(None, Some(1)))
    val each =
      new Fetching(new ScriptedKinesis().page(page(1 to 3)), byBytes).fetched().report.marks
    assert(each.map(_.upTo) === Seq(upTo(1), upTo(2), upTo(3)))
  }

  test("after an empty page behind the tip the next call follows at once, and is not urgent") {
    val fetching =
      new Fetching(new ScriptedKinesis().page(page(1 to 0)).page(page(1 to 0)).page(page(1 to 1)))
    assert(fetching.fetched().isUrgent, "the driver waits for the first page of each shard")
    val Read(empty, pause) = fetching.read()
    assert(!empty.isUrgent && pause === 200.millis && empty.report.marks.isEmpty)
    assert(empty.report.completeAsOfMillis === 0, "behind, so nothing is known to be complete")
    assert(fetching.fetched().report.marks.map(_.upTo) === Seq(upTo(1)))
  }

  test("a shard at its tip is complete as of now, and is polled less often while it is idle") {
    val kinesis =
      new ScriptedKinesis().page(page(1 to 1, behind = 0).copy(serverTime = Some(now)))
    (1 to 4).foreach(_ => kinesis.page(page(1 to 0, behind = 0)))
    val fetching = new Fetching(kinesis)
    assert(fetching.fetched().report.completeAsOfMillis === 10, "the shard may have ended")
    val times = Seq(1, 5, 9, 60).map(seconds => now.plusSeconds(seconds.toLong))
    val idle = times.map(fetching.read)
    assert(idle.map(_.page.report.completeAsOfMillis) === times.map(_.toEpochMilli))
    assert(idle.map(_.pause.toMillis) === Seq(200, 500, 900, 1000))
  }

  test("an answer that does not say how far it is behind is not taken for the tip") {
    val kinesis = new ScriptedKinesis().page(page(1 to 1))
    (1 to 2).foreach(_ => kinesis.page(page(1 to 0).copy(millisBehindLatest = None)))
    val fetching = new Fetching(kinesis)
    fetching.fetched()
    val Read(unknown, pause) = fetching.read(now.plusSeconds(60))
    assert(unknown.report.millisBehindLatest > 0 && unknown.report.completeAsOfMillis === 0)
    assert(pause === 200.millis, "it is polled like a shard with records")
  }

  test("where no answer says it, many empty pages in a row, for four seconds, are the tip") {
    val kinesis = new ScriptedKinesis()
    def script(count: Int) =
      (1 to count).foreach(_ => kinesis.page(page(1 to 0).copy(millisBehindLatest = None)))
    script(60)
    val fetching = new Fetching(kinesis)
    def isAtTip(millis: Int) = {
      val report = fetching.fetched(now.plusMillis(millis.toLong)).report
      assert((report.millisBehindLatest == 0) === report.completeAsOfMillis > 0)
      report.millisBehindLatest == 0
    }
    assert((0 to 39).forall(n => !isAtTip(n * 100)), "long enough only now")
    assert(isAtTip(4000) && isAtTip(4100))
    kinesis.page(page(1 to 1))
    (1 to 18).foreach(_ => fetching.step())
    assert(fetching.fetched(now.plusSeconds(5)).report.marks.nonEmpty)
    script(20)
    assert((6 to 24).forall(second => !isAtTip(second * 1000)), "not often enough")
    assert(isAtTip(25000))
  }

  test("after an expired iterator a new one starts after the last record") {
    val fetching = new Fetching(
      new ScriptedKinesis()
        .page(page(1 to 3))
        .page(throw ScriptedKinesis.Expired)
        .page(page(4 to 4))
    )
    fetching.fetched()
    assert(fetching.step() === ReadStep.Expired)
    assert(fetching.fetched().report.from === upTo(3))
    val after = Position.AfterSequenceNumber(SequenceNumber("3"))
    assert(fetching.kinesis.positions === Seq(Position.TrimHorizon, after))
  }

  test("iterators that expire again and again are a failure, unless something else comes between") {
    val endless = new ScriptedKinesis()
    (1 to 30).foreach(_ => endless.page(throw ScriptedKinesis.Expired))
    val fetching = new Fetching(endless)
    assert(Seq.fill(20)(fetching.step()).forall(_ == ReadStep.Expired))
    assert(fetching.step() === Fails(ScriptedKinesis.Expired))
    val busy = new ScriptedKinesis()
    (1 to 30).foreach(_ => busy.page(throw ScriptedKinesis.Expired).page(throw Throttled))
    val waiting = new Fetching(busy.page(page(1 to 3)))
    assert(Seq.fill(60)(waiting.step()).forall(!_.isInstanceOf[Fails]))
  }

  test("throttled calls have random delays with a bound that grows to ten seconds") {
    def delays(chance: Double) = {
      val kinesis = new ScriptedKinesis()
      (1 to 9).foreach(_ => kinesis.page(throw Throttled))
      kinesis.page(page(1 to 1)).page(throw Throttled)
      val fetching = new Fetching(kinesis, chance = chance)
      def delay() = fetching.step() match {
        case Retries(Throttled, delay) => delay.toMillis
        case other => fail(s"not retried: $other")
      }
      val inARow = Seq.fill(9)(delay())
      fetching.fetched()
      inARow :+ delay()
    }
    assert(delays(0.5) === Seq(100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 100))
    assert(delays(0.0).toSet === Set(1))
  }

  test("a failure that is not retryable ends the fetcher") {
    val denied = new KinesisException.AccessDenied("not yours")
    assert(new Fetching(new ScriptedKinesis().page(throw denied)).step() === Fails(denied))
  }

  test("an end with children is accepted, and the shard is finished with its last records") {
    val fetching = new Fetching(new ScriptedKinesis().page(end(1 to 2, child)))
    val report = fetching.fetched().report
    assert(report.marks.map(_.upTo) === Seq(Progress.Finished) && report.children === Seq(child))
    assert(report.marks.map(_.records) === Seq(2))
    assert(fetching.buffered(Progress.Finished) === Some(Seq(1L, 2L)))
    assert(fetching.step() === Ended && fetching.kinesis.listed.isEmpty)
  }

  test("an end without records has its own mark") {
    val report = new Fetching(new ScriptedKinesis().page(end(1 to 0, child))).fetched().report
    assert(report.marks === Vector(Mark(Progress.Finished, 0, 0, 0)))
  }

  test(
    "a finished shard is complete only as of its last record, as its children may have older ones"
  ) {
    val withRecords = new Fetching(new ScriptedKinesis().page(end(1 to 2, child)))
    assert(withRecords.fetched().report.completeAsOfMillis === 20)
    val without = new Fetching(new ScriptedKinesis().page(end(1 to 0, child)))
    assert(without.fetched().report.completeAsOfMillis === 0)
  }

  test("an end without children is accepted if a second answer and the listing confirm it") {
    val kinesis = new ScriptedKinesis()
      .page(end(1 to 1))
      .page(end(2 to 1))
      .listing(listing(closed, listedChild, shard))
    val fetching = new Fetching(kinesis)
    assert(fetching.fetched().report.marks.map(_.upTo) === Seq(upTo(1)))
    val report = fetching.fetched().report
    assert(report.children === Seq(child) && report.marks.map(_.upTo) === Seq(Progress.Finished))
    assert(kinesis.positions.last === Position.AfterSequenceNumber(SequenceNumber("1")))
  }

  test(
    "an end without children in the middle of a closed shard is a mistake, and the rest is read"
  ) {
    val kinesis = new ScriptedKinesis()
      .page(end(1 to 1))
      .page(page(2 to 2))
      .page(end(3 to 2))
      .page(page(3 to 3))
      .page(end(4 to 3, child))
      .listing(listing(closed, listedChild, shard))
    val fetching = new Fetching(kinesis)
    (1 to 5).foreach(_ => fetching.fetched())
    assert(fetching.buffered(Progress.Finished) === Some(Seq(1L, 2L, 3L)))
  }

  test("an end without children of an open shard is not accepted, and the call is repeated") {
    val fetching = new Fetching(
      new ScriptedKinesis()
        .page(page(1 to 1))
        .page(end(2 to 2))
        .page(end(3 to 2))
        .listing(listing(shard))
        .page(page(3 to 3))
    )
    fetching.fetched()
    fetching.fetched()
    fetching.step() match {
      case Retries(failure: KinesisException.ServiceFailure, delay) =>
        assert(delay === 100.millis && failure.getMessage.contains(shard.id.name))
      case other => fail(s"not retried: $other")
    }
    assert(fetching.fetched().report.marks.map(_.upTo) === Seq(upTo(3)))
    val after = Position.AfterSequenceNumber(SequenceNumber("2"))
    assert(fetching.kinesis.positions.last === after)
    assert(fetching.buffered(upTo(3)) === Some(Seq(1L, 2L, 3L)), "nothing is buffered twice")
  }

  test("a shard that no longer exists is a loss, or an end with its children") {
    def script =
      new ScriptedKinesis()
        .page(page(1 to 3))
        .page(throw Gone)
        .listing(listing(listedChild))
        .page(throw Gone)
        .listing(listing(listedChild))
        .summary(summary())
    val failing = new Fetching(script)
    failing.fetched()
    assert(failing.step() === Retries(Gone, 1500.millis), "one answer may be wrong")
    failing.step() match {
      case Loses(loss) =>
        assert(loss.condition === "KINESIS_DATA_LOSS")
        assert(
          Seq(stream.toString, shard.id.name, "failOnDataLoss").forall(loss.getMessage.contains)
        )
      case other => fail(s"not lost: $other")
    }
    val going =
      new Fetching(script, settings.copy(reads = settings.reads.copy(failOnDataLoss = false)))
    going.fetched()
    going.step()
    val report = going.fetched().report
    assert(report.marks.map(_.upTo) === Seq(Progress.Finished) && report.children === Seq(child))
  }

  test("a shard that is gone for one call only is read on") {
    def gone(script: ScriptedKinesis) = script.page(throw Gone).listing(listing(listedChild))
    val script = gone(gone(new ScriptedKinesis().page(page(1 to 3))).page(page(4 to 4)))
    val fetching = new Fetching(script)
    fetching.fetched()
    (1 to 2).foreach { _ =>
      assert(fetching.step() === Retries(Gone, 1500.millis))
      script.page(page(5 to 5))
      fetching.fetched()
    }
  }

  test("NotFound for a listed shard is retried, and a deleted stream fails the fetcher") {
    val listed = new Fetching(new ScriptedKinesis().page(throw Gone).listing(listing(shard)))
    assert(listed.step() === Retries(Gone, 100.millis))
    val deleted = new ScriptedKinesis().page(throw Gone).page(throw Gone)
    val noStream = new Fetching(deleted.listing(throw Gone).listing(throw Gone))
    assert(noStream.step() === Retries(Gone, 1500.millis), "one answer may be wrong")
    assert(noStream.step() === Fails(Gone))
    val busy = new Fetching(new ScriptedKinesis().page(throw Gone).listing(throw Throttled))
    assert(busy.step() === Retries(Throttled, 100.millis))
  }

  test("with a full store the fetcher waits, and continues at its position when there is room") {
    val fetching = new Fetching(
      new ScriptedKinesis().page(page(1 to 3)).page(page(4 to 4)),
      settings.copy(bufferBytes = Some(500))
    )
    fetching.fetched()
    assert(fetching.step() === NoRoom && fetching.kinesis.asked.size === 1)
    fetching.store.dropUpTo(id, upTo(3))
    assert(fetching.fetched().report.from === upTo(3))
  }

  test("a shard that is assigned at its end needs no call") {
    assert(new Fetching(new ScriptedKinesis(), from = Progress.Finished).step() === Ended)
  }

  test("NotFound for a listed shard leads to a new iterator") {
    val kinesis = new ScriptedKinesis().page(page(1 to 3)).page(throw Gone).listing(listing(shard))
    val fetching = new Fetching(kinesis.page(page(4 to 4)))
    fetching.fetched()
    fetching.step()
    fetching.fetched()
    assert(kinesis.positions.last === Position.AfterSequenceNumber(SequenceNumber("3")))
  }

  private val outage = new KinesisException.ServiceFailure("internal")

  private def failing(failure: KinesisException, times: Int) = {
    val kinesis = new ScriptedKinesis()
    (1 to times).foreach(_ => kinesis.page(throw failure))
    kinesis
  }

  test("more than 20 failures in a row within more than five minutes end the fetcher") {
    def last(
        attempts: Int,
        over: FiniteDuration,
        timeout: Option[FiniteDuration] = Some(5.minutes)
    ) = {
      val fetching = new Fetching(
        failing(outage, attempts),
        settings.copy(reads = settings.reads.copy(retryTimeout = timeout))
      )
      fetching.step()
      (3 to attempts).foreach(_ => assert(fetching.step().isInstanceOf[Retries]))
      fetching.step(now.plusMillis(over.toMillis))
    }
    assert(last(21, 5.minutes + 1.milli) === Fails(outage))
    assert(last(21, 5.minutes).isInstanceOf[Retries], "not long enough")
    assert(last(20, 5.hours).isInstanceOf[Retries], "not often enough")
    assert(last(21, 61.minutes, Some(1.hour)) === Fails(outage))
    assert(last(5, 10.seconds + 1.milli, Some(10.seconds)) === Fails(outage))
    assert(last(50, 365.days, None) === Retries(outage, 5.seconds))
  }

  test("one successful call resets the count of failures") {
    val kinesis = failing(outage, 20).page(page(1 to 1)).page(throw outage)
    val fetching = new Fetching(kinesis)
    (1 to 20).foreach(_ => fetching.step())
    fetching.fetched()
    assert(fetching.step(now.plusSeconds(3600)).isInstanceOf[Retries])
  }

  test("throttling never ends the fetcher") {
    val patient = new Fetching(failing(Throttled, 30))
    (1 to 29).foreach(_ => patient.step())
    assert(patient.step(now.plusSeconds(36000)).isInstanceOf[Retries])
  }

  test("throttling does not count as the beginning of another failure") {
    val kinesis = (1 to 30).foldLeft(new ScriptedKinesis())((all, _) => all.page(throw Throttled))
    val fetching = new Fetching(kinesis.page(throw outage))
    (1 to 30).foreach(_ => fetching.step())
    assert(fetching.step(now.plusSeconds(36000)).isInstanceOf[Retries])
  }

  test("missing or expired credentials and a wrong clock are tried again for a limited time") {
    Seq(
      new KinesisException.CredentialsExpired("expired"),
      new KinesisException.BadCredentials("no provider has any", mayPass = true),
      new KinesisException.ClockSkewed("an hour")
    )
      .foreach { failure =>
        val fetching = new Fetching(failing(failure, 40))
        (1 to 30).foreach(_ => assert(fetching.step().isInstanceOf[Retries]))
        assert(fetching.step(now.plusSeconds(301)) === Fails(failure))
      }
  }

  test("credentials that were never there end the query soon, and those that were there do not") {
    val none = new KinesisException.BadCredentials("no provider has any", mayPass = true)
    val forever = settings.copy(reads = settings.reads.copy(retryTimeout = None))
    val never = new Fetching(failing(none, 40), forever)
    (1 to 30).foreach(_ => assert(never.step().isInstanceOf[Retries]))
    assert(never.step(now.plusSeconds(121)) === Fails(none))

    val pages =
      (1 to 40).foldLeft(new ScriptedKinesis().page(page(1 to 1)))((all, _) => all.page(throw none))
    val later = new Fetching(pages, forever)
    later.fetched()
    (1 to 30).foreach(_ => assert(later.step().isInstanceOf[Retries]))
    assert(later.step(now.plusSeconds(36000)).isInstanceOf[Retries])
  }

  test("a refused page of four megabytes is not asked for again before two seconds have passed") {
    val large = Page(IndexedSeq(record(1, 4 << 20)), Some(ShardIterator("next")), Behind, Nil)
    val kinesis = new ScriptedKinesis().page(large).page(throw Throttled)
    val fetching = new Fetching(kinesis, settings.copy(bufferBytes = Some(1L << 30)))
    fetching.fetched()
    assert(fetching.nextStep().isInstanceOf[Retries])
    fetching.nextStep() match {
      case Paced(pause) => assert(pause >= 2.seconds && pause < 2100.millis)
      case other => fail(s"not paced: $other")
    }
    assert(kinesis.asked.size === 2)
  }

  private val recent = now.toEpochMilli + 48.hours.toMillis

  private def recentPage(number: Int, behind: Long, at: Long = recent) = Page(
    IndexedSeq(record(number.toLong, 1).copy(arrivalMillis = recent)),
    Some(ShardIterator("next")),
    Some(behind),
    Nil,
    Some(Instant.ofEpochMilli(at))
  )

  /** @param wrong how far the clock of the executor is ahead */
  private def stepAfter(
      behind: Long,
      age: FiniteDuration,
      retention: FiniteDuration,
      wrong: FiniteDuration = Duration.Zero
  ) = {
    val later = recent + age.toMillis
    val kinesis = new ScriptedKinesis()
      .page(recentPage(1, behind))
      .summary(summary(retention = retention))
      .page(recentPage(2, behind, later))
    val fetching = new Fetching(kinesis)
    fetching.fetched(Instant.ofEpochMilli(recent + wrong.toMillis))
    fetching.step(Instant.ofEpochMilli(later + wrong.toMillis))
  }

  test("a reader behind the retention period, also after a pause at the tip, has lost records") {
    Seq(Behind, 0L).foreach { behind =>
      stepAfter(behind, 25.hours, 24.hours) match {
        case Loses(loss) =>
          assert(loss.condition === "KINESIS_DATA_LOSS")
          assert(loss.getMessage.contains(Instant.ofEpochMilli(recent).toString))
        case other => fail(s"not lost: $other")
      }
      assert(stepAfter(behind, 24.hours, 24.hours).isInstanceOf[Read[_]])
      assert(stepAfter(behind, 25.hours, 48.hours).isInstanceOf[Read[_]])
    }
  }

  test("a page that cannot be judged yet is asked for again with its own iterator") {
    val late = recent + 30.hours.toMillis
    def second = recentPage(2, 0, late).copy(next = Some(ShardIterator("after the second")))
    val kinesis = new ScriptedKinesis().page(recentPage(1, 0)).page(second).page(second)
    kinesis.summary(throw Throttled).summary(summary(retention = 48.hours))
    val fetching = new Fetching(kinesis)
    fetching.fetched(Instant.ofEpochMilli(recent))
    assert(fetching.step(Instant.ofEpochMilli(late)).isInstanceOf[Retries])
    fetching.fetched(Instant.ofEpochMilli(late))
    assert(kinesis.asked.map(_._1.token).toSeq === Seq("taken-1", "next", "next"))
  }

  test("with `failOnDataLoss` set to `false`, a reader behind the retention period continues") {
    val kinesis = new ScriptedKinesis().page(recentPage(1, 0)).summary(summary())
    val later = recent + 30.hours.toMillis
    val fetching =
      new Fetching(
        kinesis.page(recentPage(2, 0, later)),
        settings.copy(reads = settings.reads.copy(failOnDataLoss = false))
      )
    fetching.fetched(Instant.ofEpochMilli(recent))
    fetching.fetched(Instant.ofEpochMilli(later))
  }

  /**
   * A shard without a record at the horizon, whose reader advances at this multiple of the speed of
   * the time of day. Returns its steps until one is no page.
   */
  private def atHorizon(
      speed: Double,
      settings: FetchSettings = settings,
      minutesPerStep: Int = 1
  ) = {
    val fetching = new Fetching(new ScriptedKinesis(), settings)
    Iterator.from(0, minutesPerStep).takeWhile(_ < 180).map { minute =>
      val at = now.plusSeconds(60L * minute)
      val behind = (24.hours.toMillis - minute * 60000 * (speed - 1)).toLong.max(1)
      fetching.kinesis.page(page(1 to 0, behind).copy(serverTime = Some(at))).summary(summary())
      fetching.step(at)
    }
  }

  test("a reader whose records expire as fast as it advances does not read empty pages for ever") {
    val steps = atHorizon(1).span(_.isInstanceOf[Read[_]])
    assert(steps._1.size === 30)
    steps._2.next() match {
      case Loses(loss) =>
        assert(loss.condition === "KINESIS_DATA_LOSS")
        assert(loss.getMessage.contains("records expire as fast as they are read"))
        assert(loss.getMessage.contains(shard.id.name))
      case other => fail(s"not lost: $other")
    }
    val tolerant = settings.copy(reads = settings.reads.copy(failOnDataLoss = false))
    val lost = atHorizon(1, tolerant).collect { case Read(it: FetchedPage, _) => it.report.lost }
    assert(lost.sum === 5, "one loss per half hour")
  }

  test("a reader that pauses between empty pages at the horizon loses none") {
    assert(atHorizon(1, minutesPerStep = 2).forall(_.isInstanceOf[Read[_]]))
    assert(atHorizon(1, minutesPerStep = 31).forall(_.isInstanceOf[Read[_]]))
  }

  test("a reader that crosses a day without records loses none") {
    assert(atHorizon(1.5).forall(_.isInstanceOf[Read[_]]))
    assert(atHorizon(20).forall(_.isInstanceOf[Read[_]]))
  }

  test("a clock that is an hour wrong changes neither what is complete nor what is lost") {
    Seq(-1.hour, 0.hours, 1.hour).foreach { wrong =>
      val tip = page(1 to 0, behind = 0).copy(serverTime = Some(now))
      val fetching = new Fetching(new ScriptedKinesis().page(tip))
      val report = fetching.fetched(now.plusMillis(wrong.toMillis)).report
      assert(report.completeAsOfMillis === now.toEpochMilli)
      Seq(Behind, 0L).foreach { behind =>
        assert(stepAfter(behind, 24.hours, 24.hours, wrong).isInstanceOf[Read[_]])
        assert(stepAfter(behind, 25.hours, 24.hours, wrong).isInstanceOf[Loses])
      }
    }
  }

  test("without the service's time, what is complete has a margin for a wrong clock") {
    val fetching = new Fetching(new ScriptedKinesis().page(page(1 to 0, behind = 0)))
    assert(fetching.fetched().report.completeAsOfMillis === now.minusSeconds(600).toEpochMilli)
  }

  private val stopping = settings.copy(stopAtMillis = Some(25))

  /** A page with records that arrived at these times. */
  private def arrived(millis: Long*): Page = {
    val records = page(1 to millis.size).records.zip(millis).map { case (record, time) =>
      record.copy(arrivalMillis = time)
    }
    page(1 to 0).copy(records = records)
  }

  test("with a stop time, a record that arrived in time is read, even after a later one") {
    val later = arrived(5, 1025, 25, 1025, 25)
    val pages = new ScriptedKinesis()
      .page(arrived(5, 1025, 25))
      .page(later.copy(records = later.records.drop(3)))
    val fetching = new Fetching(pages, stopping)
    assert(fetching.fetched().report.marks.map(_.upTo) === Seq(upTo(3)))
    assert(fetching.fetched().report.marks.map(_.records) === Seq(2))
  }

  test("with a stop time, a page with records is not the tip, because the shard may have ended") {
    val pages = new ScriptedKinesis()
      .page(page(1 to 2, behind = 0))
      .page(page(3 to 2, behind = 0))
      .page(end(3 to 2, child))
    val fetching = new Fetching(pages, stopping)
    assert(Seq.fill(3)(fetching.fetched().report.millisBehindLatest) === Seq(1, 0, 0))
  }

  test(
    "with a stop time, no record is buffered or reported after one that arrived a second later"
  ) {
    val fetching = new Fetching(new ScriptedKinesis().page(arrived(5, 1025, 1026, 5)), stopping)
    val report = fetching.fetched().report
    assert(report.marks.map(_.upTo) === Seq(upTo(2)) && report.millisBehindLatest === 0)
    assert(fetching.buffered(upTo(2)) === Some(Seq(1L, 2L)))
    fetching.store.dropUpTo(id, upTo(2))
    assert(fetching.store.bytes === 0, "what no batch will use takes no room")
    assert(fetching.step() === Ended && fetching.kinesis.asked.size === 1)
  }

  test("with a stop time, a shard that is read up to it is complete as of it") {
    val fetching = new Fetching(new ScriptedKinesis().page(arrived(5, 1026)), stopping)
    val report = fetching.fetched().report
    assert(report.marks.map(_.lastArrivalMillis) === Seq(5))
    assert(report.completeAsOfMillis === 1025, "else other shards would wait for it forever")
  }

  test("with a stop time, a shard that ended later is not finished") {
    val late = arrived(5, 1025, 1026).copy(next = None, children = Seq(child))
    val fetching = new Fetching(new ScriptedKinesis().page(late), stopping)
    val report = fetching.fetched().report
    assert(report.marks.map(_.upTo) === Seq(upTo(2)) && report.children.isEmpty)
    val before = new Fetching(new ScriptedKinesis().page(end(1 to 2, child)), stopping)
    assert(before.fetched().report.marks.map(_.upTo) === Seq(Progress.Finished))
  }

  test("with a small limit it reads only some thousand batches ahead") {
    val kinesis = new ScriptedKinesis()
    (0 until 20).foreach(page =>
      kinesis.page(ScriptedKinesis.page(page * 256 + 1 to page * 256 + 256))
    )
    val each = settings.copy(
      reads = settings.reads.copy(maxRecords = 10000),
      limits = ReadLimits(Some(1), None)
    )
    val fetching = new Fetching(kinesis, each)
    (1 to 16).foreach(_ => fetching.fetched())
    assert(fetching.kinesis.asked.map(_._2).toSet === Set(256))
    assert(fetching.step() === NoRoom)
    fetching.store.dropUpTo(id, upTo(256))
    assert(fetching.fetched().report.marks.size === 256 && fetching.step() === NoRoom)
  }

  test("a response for which there was no memory uses the shard's quota") {
    val clock = new FastClock
    val account = new FetchMemory(clock = clock).join(10 << 20)
    account.hold(70 << 20)
    val kinesis = new ScriptedKinesis().page {
      if (ResponseRoom.ofThread.await(9 << 20)) page(1 to 1)
      else throw new KinesisException.Other("full")
    }
    val fetcher = new ShardFetcher(
      StreamClient(stream, kinesis, new SharedReads(isAws = true)),
      Assignment(id, 1, Progress.TrimHorizon),
      new PageStore(account),
      settings,
      () => 0.5
    )
    assert(fetcher.step(Moment(now, now)) === NoRoom)
    fetcher.step(Moment(now, now)) match {
      case Paced(pause) => assert(pause >= 4.seconds && pause < 5.seconds, "nine megabytes")
      case other => fail(s"not paced: $other")
    }
  }

  test("a failure to get an iterator uses nothing of the shard's quota") {
    val outages = 5
    val kinesis = new ReadOnlyKinesis {
      private var calls = 0
      override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator = {
        calls += 1
        if (calls <= outages) throw outage else ShardIterator("taken")
      }
      override def getRecords(s: StreamRef, iterator: ShardIterator, limit: Int): Page =
        page(1 to 3)
    }
    val fetcher = new ShardFetcher(
      StreamClient(stream, kinesis, new SharedReads(isAws = true)),
      Assignment(id, 1, Progress.TrimHorizon),
      Stores.of(settings),
      settings,
      () => 0.5
    )
    (1 to outages).foreach(_ => assert(fetcher.step(Moment(now, now)).isInstanceOf[Retries]))
    assert(fetcher.step(Moment(now, now)).isInstanceOf[Read[_]], "the quota is unused")
  }

  test("the estimated size counts that small records need more memory than their data") {
    val many = page(1 to 1000)
    val taken = PackedRecords(many.records).bytes + StoredPage.ObjectBytes
    def second(capacity: Long) = {
      val kinesis = new ScriptedKinesis().page(many).page(many)
      val fetching = new Fetching(kinesis, settings.copy(bufferBytes = Some(capacity)))
      fetching.fetched()
      fetching.step()
    }
    val both = taken + math.max(64L << 10, taken * 9 / 8)
    assert(second(both - 1) === NoRoom)
    assert(second(both).isInstanceOf[Read[_]])
  }
}
