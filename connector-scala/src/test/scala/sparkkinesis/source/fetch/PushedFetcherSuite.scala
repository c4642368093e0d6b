package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.feed.ReadStep
import sparkkinesis.shard.feed.ReadStep._
import sparkkinesis.shard.{ReadSettings, StreamClient}
import sparkkinesis.source.ScriptedKinesis.{end, page, recordsOf}
import sparkkinesis.source.fetch.Steps._
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Assignment, FetchReport, ReadLimits}
import sparkkinesis.source.store.Stores
import sparkkinesis.source.{ReadOnlyKinesis, ScriptedKinesis}

/**
 * A fetcher with enhanced fan-out
 *   - asks for events only if the store has room for them;
 *   - reads no record twice if the service repeats events, or begins before the position;
 *   - polls a closed shard whose subscription is quiet at the tip.
 */
class PushedFetcherSuite extends AnyFunSuite {
  private val id = StreamShard(arn, shardId(0))

  /** @param bytes room of the store */
  private final class Fetching(
      bytes: Long = 100 << 20,
      limits: ReadLimits = ReadLimits.None,
      polled: ScriptedKinesis = new ScriptedKinesis,
      from: Progress = Progress.TrimHorizon,
      stopAtMillis: Option[Long] = None
  ) {
    var requests = 0
    var hasClosed = false // the subscription
    private var subscriber: EventSubscriber = _
    private val settings =
      FetchSettings(
        ReadSettings(100, 200.millis, 1.second),
        bufferBytes = Some(bytes),
        spillBytes = 0,
        limits = limits,
        stopAtMillis = stopAtMillis
      )

    private object fanOut extends FanOutClient {
      override def describe(consumer: ConsumerRef): ConsumerSummary =
        throw new UnsupportedOperationException
      override def register(s: StreamArn, name: String): ConsumerSummary =
        throw new UnsupportedOperationException
      override def subscribe(
          consumer: ConsumerArn,
          shard: ShardId,
          position: Position,
          to: EventSubscriber
      ): EventSubscription = {
        subscriber = to
        new EventSubscription {
          override def request(): Unit = requests += 1
          override def close(): Unit = hasClosed = true
        }
      }
    }
    private val client: KinesisClient = new ReadOnlyKinesis {
      override def fanOut: FanOutClient = Fetching.this.fanOut
      override def shardIterator(s: StreamRef, shard: ShardId, at: Position): ShardIterator =
        polled.shardIterator(s, shard, at)
      override def getRecords(s: StreamRef, iterator: ShardIterator, limit: Int): Page =
        polled.getRecords(s, iterator, limit)
    }
    val fetcher = new ShardFetcher(
      StreamClient(stream, client, consumer = Some(ConsumerArn(arn, "app", 1))),
      Assignment(id, 1, from),
      Stores.of(settings),
      settings,
      () => 0.5
    )

    def step(): ReadStep[FetchedPage] = {
      val now = Instant.ofEpochMilli(5000000)
      fetcher.step(Moment(now, now))
    }

    /** Steps until it waits for an event. */
    def asked(): this.type = {
      while (!step().isInstanceOf[Awaits]) ()
      this
    }

    def event(numbers: Range): Unit = {
      val continuation = Some(SequenceNumber(numbers.last.toString))
      subscriber.event(ShardEvent(recordsOf(numbers), continuation, Some(0), Nil))
    }

    def report(): FetchReport = step() match {
      case Read(page, _) => page.report
      case other => fail(s"not read: $other")
    }

    def push(number: Int, millisBehind: Long, size: Int): Unit = {
      val record = recordsOf(number to number).head.copy(data = new Array[Byte](size))
      val after = Some(record.sequenceNumber)
      subscriber.event(ShardEvent(Vector(record), after, Some(millisBehind), Nil))
    }
  }

  test("in a backlog it asks for an event while it stores the one before") {
    val it = new Fetching(bytes = 100 << 20).asked()
    it.push(1, millisBehind = 1000, size = 1 << 20)
    assert(it.requests === 1)
    assert(it.step().isInstanceOf[Read[_]] && it.requests === 2)
    assert(it.step().isInstanceOf[Awaits] && it.requests === 2)
    it.push(2, millisBehind = 0, size = 1 << 20)
    assert(it.step().isInstanceOf[Read[_]] && it.requests === 2)
    assert(it.step().isInstanceOf[Awaits] && it.requests === 3)
  }

  private def upTo(number: Int): Progress = Progress.After(SequenceNumber(number.toString))

  test("records that come again are not read again, and are counted") {
    val it = new Fetching().asked()
    it.event(1 to 3)
    assert(it.report().early === 0)
    it.asked().event(2 to 5)
    val report = it.report()
    assert(report.early === 2 && report.marks.map(_.upTo) === Seq(upTo(5)))
    assert(report.marks.map(_.records) === Seq(2))
  }

  test("an event that comes again is not at the tip, because the shard may have ended") {
    val it = new Fetching().asked()
    it.event(1 to 3)
    assert(it.report().millisBehindLatest === 0)
    it.asked().event(1 to 3)
    val report = it.report()
    assert(report.marks.isEmpty && report.early === 3 && report.millisBehindLatest === 1)
  }

  test("a subscription that begins at the oldest record repeats none after a restart") {
    val it = new Fetching(from = upTo(4)).asked()
    it.event(1 to 6)
    val report = it.report()
    assert(report.early === 4 && report.from === upTo(4))
    assert(report.marks.map(mark => mark.upTo -> mark.records) === Seq(upTo(6) -> 2L))
  }

  private val child = ChildShard(shardId(7), Seq(id.shard), HashKeyRange.All)

  test("a closed shard whose subscription is quiet at the tip is polled, and ends") {
    val polled = new ScriptedKinesis().page(end(1 to 0, child))
    val it = new Fetching(polled = polled).asked()
    it.event(1 to 3)
    it.report()
    assert(it.fetcher.shardClosed() && !it.fetcher.shardClosed(), "it is news once")
    val report = it.report()
    assert(report.marks.map(_.upTo) === Seq(Progress.Finished) && report.children === Seq(child))
    assert(it.hasClosed && it.fetcher.isEnded)
    assert(polled.positions === Seq(Position.AfterSequenceNumber(SequenceNumber("3"))))
  }

  test("a subscription is not quiet before its first event, and an open shard is not polled") {
    val it = new Fetching().asked()
    it.fetcher.shardClosed()
    assert(it.step().isInstanceOf[Awaits])
    val open = new Fetching().asked()
    open.event(1 to 3)
    open.report()
    assert(open.step().isInstanceOf[Awaits] && !open.hasClosed)
  }

  test("with a stop time, only a polled page is at the tip, because the shard may have ended") {
    val polled = new ScriptedKinesis().page(page(1 to 0, behind = 0))
    val it = new Fetching(polled = polled, stopAtMillis = Some(5000000)).asked()
    it.event(1 to 3)
    assert(it.report().millisBehindLatest === 1 && !it.hasClosed)
    assert(it.report().millisBehindLatest === 0 && it.hasClosed)
  }

  test("without room for two it asks for an event after it has stored the one before") {
    val it = new Fetching(bytes = 3 << 20).asked()
    it.push(1, millisBehind = 1000, size = 1 << 20)
    assert(it.step().isInstanceOf[Read[_]] && it.requests === 1)
    it.step()
    assert(it.requests === 2)
  }

  test("with small batches it asks for one event at a time") {
    val limits = ReadLimits(Some(10), None)
    val it = new Fetching(bytes = 100 << 20, limits).asked()
    it.push(1, millisBehind = 1000, size = 1000)
    assert(it.step().isInstanceOf[Read[_]] && it.requests === 1)
  }
}
