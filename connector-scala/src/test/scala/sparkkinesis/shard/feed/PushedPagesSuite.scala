package sparkkinesis.shard.feed

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model._
import sparkkinesis.shard.feed.ReadStep._
import sparkkinesis.shard.{ReadSettings, StreamClient}
import sparkkinesis.source.ReadOnlyKinesis
import sparkkinesis.source.ScriptedKinesis.recordsOf

/**
 * A subscription
 *   - begins at the position and asks for one event when there is room, and ahead for one in a
 *     backlog;
 *   - is renewed before the service ends it, and continues after its last event;
 *   - waits a second between two calls, and longer if the consumer is in use;
 *   - fails by name if others take it over again and again, or if the consumer is gone;
 *   - is replaced if it is silent although an event was asked for;
 *   - is deaf to late events of an earlier one.
 */
class PushedPagesSuite extends AnyFunSuite {

  /** One call, and what the feed did with it. */
  private final class Call(val from: Position, val subscriber: EventSubscriber)
      extends EventSubscription {
    var requests = 0
    var isClosed = false
    override def request(): Unit = requests += 1
    override def close(): Unit = isClosed = true
  }

  private final class Feeding(chance: Double = 0.5) {
    val calls: mutable.Buffer[Call] = mutable.Buffer.empty[Call]
    val counts = new FeedCounts(SystemClock)
    var wakes = 0
    var isConsumerGone = false
    var now = 1000000L
    private object service extends FanOutClient {
      override def describe(consumer: ConsumerRef): ConsumerSummary =
        if (isConsumerGone) throw new KinesisException.NotFound("gone")
        else throw new KinesisException.Unreachable("not known")
      override def register(to: StreamArn, name: String): ConsumerSummary =
        throw new UnsupportedOperationException
      override def subscribe(
          consumer: ConsumerArn,
          shard: ShardId,
          from: Position,
          subscriber: EventSubscriber
      ): EventSubscription = {
        calls += new Call(from, subscriber)
        calls.last
      }
    }
    private val client = new ReadOnlyKinesis {
      override def fanOut: FanOutClient = service
    }
    val feed = new PushedPages(
      StreamClient(stream, client),
      ConsumerArn(arn, "app", 1),
      shardId(0),
      ReadSettings(),
      counts,
      () => chance,
      () => wakes += 1
    )

    def at: Moment = Moment(Instant.ofEpochMilli(now + 7), Instant.ofEpochMilli(now))

    def look(): Either[NotYet, (Page, Moment)] = feed.next(Position.TrimHorizon, at)

    def next(): Either[NotYet, Page] = look().map { case (page, _) =>
      feed.took()
      page
    }

    def readiness: Readiness = feed.readiness(at)

    def call: Call = calls.last

    def event(numbers: Range, continuation: Option[Long] = None): ShardEvent = {
      val after = continuation.getOrElse(numbers.lastOption.getOrElse(numbers.start - 1).toLong)
      ShardEvent(recordsOf(numbers), Some(SequenceNumber(after.toString)), Some(0), Nil)
    }

    def push(numbers: Range): Unit = call.subscriber.event(event(numbers))

    def fail(failure: KinesisException): Unit = call.subscriber.ended(Some(failure))

    /** Continues until an event was asked for. */
    def asked(): this.type = {
      while (!readiness.isInstanceOf[Awaits])
        (readiness, next()) match {
          case (Paced(pause), _) => now += pause.toMillis
          case _ => ()
        }
      this
    }

    def numbers(page: Either[NotYet, Page]): Seq[Long] =
      page.fold(_ => Nil, _.records.map(_.sequenceNumber.text.toLong))
  }

  private val inUse = new KinesisException.InUse("in use")

  test("it begins at the position, and asks for one event when there is room") {
    val it = new Feeding
    assert(it.readiness === NeedsRoom)
    assert(it.next().left.exists(_.isInstanceOf[Awaits]))
    assert(it.call.from === Position.TrimHorizon && it.call.requests === 1)
    assert(it.feed.keepsRoom && it.readiness.isInstanceOf[Awaits])
    it.push(1 to 3)
    assert(it.wakes === 1 && it.readiness === HasNews)
    assert(it.numbers(it.next()) === Seq(1, 2, 3))
    assert(!it.feed.keepsRoom && it.readiness === NeedsRoom && it.call.requests === 1)
    it.next()
    assert(it.call.requests === 2 && it.calls.size === 1)
  }

  test("an event that a library has decoded is counted once it is taken") {
    val it = new Feeding().asked()
    it.call.subscriber.event(it.event(1 to 3).copy(isFallback = true))
    it.look()
    it.feed.release()
    assert(it.counts.fallbacks === 0)
    it.next()
    it.asked()
    it.push(4 to 5)
    it.next()
    assert(it.counts.fallbacks === 1)
  }

  test("room is kept for the next event of a backlog, and not at the tip") {
    val it = new Feeding().asked()
    it.call.subscriber.event(it.event(1 to 3).copy(millisBehindLatest = Some(1)))
    it.next()
    it.asked()
    assert(it.feed.keepsRoom)
    it.push(4 to 5)
    it.next()
    it.asked()
    assert(!it.feed.keepsRoom)
    it.feed.close()
    assert(!it.feed.keepsRoom)
  }

  private def behind(it: Feeding, numbers: Range) =
    it.call.subscriber.event(it.event(numbers).copy(millisBehindLatest = Some(1)))

  test("in a backlog the next event is asked for before the last one is taken, once") {
    val it = new Feeding().asked()
    assert(!it.feed.mayAskAhead(it.at))
    behind(it, 1 to 3)
    assert(it.feed.mayAskAhead(it.at))
    it.feed.askAhead()
    assert(it.call.requests === 2 && !it.feed.mayAskAhead(it.at))
    it.now += 7
    assert(it.numbers(it.next()) === Seq(1, 2, 3) && it.feed.keepsRoom)
    assert(it.readiness === Awaits(Subscribed.LongestSilence) && it.call.requests === 2)
    behind(it, 4 to 5)
    assert(it.numbers(it.next()) === Seq(4, 5))
    assert(it.readiness === NeedsRoom && !it.feed.keepsRoom)
  }

  test("nothing is asked for ahead at the tip, at the end of a shard, and of an old subscription") {
    val atTip = new Feeding().asked()
    atTip.push(1 to 3)
    assert(!atTip.feed.mayAskAhead(atTip.at))
    val ended = new Feeding().asked()
    ended.call.subscriber.event(
      ended.event(1 to 3).copy(continuation = None, millisBehindLatest = Some(1))
    )
    assert(!ended.feed.mayAskAhead(ended.at))
    val old = new Feeding().asked()
    old.now += PushedPages.Renewal.toMillis
    behind(old, 1 to 3)
    assert(!old.feed.mayAskAhead(old.at))
  }

  test("a page that was not taken is asked ahead for once") {
    val it = new Feeding().asked()
    behind(it, 1 to 2)
    it.feed.askAhead()
    assert(it.look().isRight)
    assert(!it.feed.mayAskAhead(it.at) && it.numbers(it.next()) === Seq(1, 2))
    assert(it.call.requests === 2)
  }

  test("a page that was not taken comes again") {
    val it = new Feeding().asked()
    it.push(1 to 2)
    assert(it.look().isRight)
    assert(it.readiness === HasNews && it.numbers(it.next()) === Seq(1, 2))
  }

  test("the page knows when its subscription began") {
    val it = new Feeding().asked()
    val began = it.at
    it.call.subscriber.opened(Some(Instant.EPOCH))
    it.now += 100000
    it.push(1 to 1)
    val found = it.look()
    assert(found.map(_._2) === Right(began))
    assert(found.map(_._1.serverTime) === Right(Some(Instant.EPOCH)))
  }

  test("it is renewed before five minutes have passed, and continues after the last event") {
    val it = new Feeding().asked()
    val begin = it.now
    it.push(1 to 3)
    it.next()
    it.now += 220000
    it.asked().push(4 to 3) // empty
    it.next()
    it.asked()
    it.now = begin + 258000
    assert(it.readiness === HasNews)
    it.asked()
    assert(it.calls.size === 2 && it.calls.head.isClosed && !it.call.isClosed)
    assert(it.call.from === Position.AfterSequenceNumber(SequenceNumber("3")))
    assert(it.counts.renewals === 1 && it.counts.subscriptions === 2)
  }

  test("a subscription that is held back is not renewed before there is room") {
    val it = new Feeding().asked()
    it.push(1 to 3)
    it.next()
    it.now += 1000000
    assert(it.readiness === NeedsRoom && it.calls.size === 1)
    it.next()
    assert(it.calls.size === 2)
  }

  test("after a normal end the next one follows, at least a second after the last") {
    val it = new Feeding().asked()
    it.push(1 to 1)
    it.next()
    it.asked()
    it.now += 100
    it.call.subscriber.ended(None)
    assert(it.next() === Left(Paced(900.millis)) && it.readiness === Paced(900.millis))
    it.asked()
    assert(it.call.from === Position.AfterSequenceNumber(SequenceNumber("1")))
  }

  test("an end without an event is a failure") {
    val it = new Feeding().asked()
    it.call.subscriber.ended(None)
    intercept[KinesisException.ServiceFailure](it.next())
  }

  test("what came before a failure is delivered first") {
    val it = new Feeding().asked()
    it.push(1 to 2)
    it.fail(new KinesisException.ServiceFailure("later"))
    assert(it.numbers(it.next()) === Seq(1, 2))
    intercept[KinesisException.ServiceFailure](it.next())
    it.asked()
    assert(it.call.from === Position.AfterSequenceNumber(SequenceNumber("2")))
  }

  test("while the consumer is in use, it waits for five seconds and more") {
    val it = new Feeding().asked()
    it.fail(inUse)
    intercept[KinesisException.InUse](it.next())
    assert(it.readiness === Paced(6250.millis) && it.counts.refusals === 1)
  }

  test("a few takeovers are borne, many fail by name") {
    val it = new Feeding
    def takeOver(): KinesisException = {
      it.asked()
      it.push(1 to 0)
      it.next()
      it.asked().fail(inUse)
      intercept[KinesisException](it.next())
    }
    for (_ <- 1 to 9) assert(takeOver().isInstanceOf[KinesisException.InUse])
    it.now += 600000
    for (_ <- 1 to 9) assert(takeOver().isInstanceOf[KinesisException.InUse])
    assert(takeOver().isInstanceOf[KinesisException.ConsumerInUse])
  }

  test("refusals of calls that never began are no takeovers") {
    val it = new Feeding
    for (_ <- 1 to 10) {
      it.asked().fail(inUse)
      assert(intercept[KinesisException](it.next()).isInstanceOf[KinesisException.InUse])
    }
  }

  test("a missing consumer and a missing shard are different failures") {
    val it = new Feeding().asked()
    it.fail(new KinesisException.NotFound("no shard"))
    intercept[KinesisException.NotFound](it.next())
    it.isConsumerGone = true
    it.asked().fail(new KinesisException.NotFound("no consumer"))
    intercept[KinesisException.ConsumerNotFound](it.next())
  }

  test("if the service refuses the continuation, it begins at the position again") {
    val it = new Feeding().asked()
    it.push(1 to 2)
    it.next()
    it.asked().fail(new KinesisException.ServiceFailure("restart"))
    intercept[KinesisException](it.next())
    it.asked().fail(new KinesisException.InvalidArgument("unknown number"))
    assert(it.next().isLeft)
    it.asked()
    assert(it.call.from === Position.TrimHorizon)
    it.fail(new KinesisException.InvalidArgument("unknown position"))
    intercept[KinesisException.InvalidArgument](it.next())
  }

  test("it is replaced if it is silent although an event was asked for") {
    val it = new Feeding().asked()
    it.now += 44999
    assert(it.readiness === Awaits(1.milli))
    it.now += 1
    assert(it.readiness === HasNews)
    intercept[KinesisException.Unreachable](it.next())
    assert(it.call.isClosed)
    it.asked()
    assert(it.calls.size === 2)
  }

  test("a server that accepts subscriptions and sends nothing fails by name") {
    val it = new Feeding
    def silence(): KinesisException = {
      it.asked().call.subscriber.opened(None)
      assert(it.next().left.exists(_.isInstanceOf[Awaits]))
      it.now += 45000
      intercept[KinesisException](it.next())
    }
    for (_ <- 1 to 4) assert(silence().isInstanceOf[KinesisException.Unreachable])
    assert(silence().isInstanceOf[KinesisException.FanOutUnavailable])
  }

  test("silence while nothing was asked for is no failure") {
    val it = new Feeding().asked()
    it.push(1 to 1)
    it.next()
    it.now += 200000
    assert(it.readiness === NeedsRoom)
    it.next()
    assert(it.calls.size === 1 && it.readiness.isInstanceOf[Awaits])
  }

  test("a late event of an earlier subscription changes nothing") {
    val it = new Feeding().asked()
    val earlier = it.call
    it.feed.restart()
    it.asked()
    val wakes = it.wakes
    earlier.subscriber.event(it.event(7 to 9))
    earlier.subscriber.ended(Some(inUse))
    assert(it.wakes === wakes && it.readiness.isInstanceOf[Awaits])
    it.push(1 to 1)
    assert(it.numbers(it.next()) === Seq(1))
  }

  test("it is quiet at the tip or after a long silence, and not while an event waits") {
    val it = new Feeding()
    assert(!it.feed.isQuiet(it.at))
    it.asked()
    it.now += 44000
    assert(!it.feed.isQuiet(it.at))
    it.now += 2000
    assert(it.feed.isQuiet(it.at))
    it.call.subscriber.event(it.event(1 to 3).copy(millisBehindLatest = Some(1)))
    assert(!it.feed.isQuiet(it.at))
    it.next()
    assert(!it.feed.isQuiet(it.at))
    it.asked().push(4 to 5)
    assert(!it.feed.isQuiet(it.at))
    it.next()
    assert(it.feed.isQuiet(it.at))
    it.feed.restart()
    assert(it.feed.isQuiet(it.at))
  }

  test("on a server that never says how far it is behind, many empty events show the tip") {
    val it = new Feeding().asked()
    val tips = (1 to 21).map { _ =>
      it.now += 1000
      it.call.subscriber.event(it.event(1 to 0).copy(millisBehindLatest = None))
      val page = it.next().getOrElse(fail("no page"))
      it.asked()
      page.isAtTip
    }
    assert(tips === Seq.fill(19)(false) ++ Seq(true, true))
  }

  test("the end of the shard ends the subscription") {
    val it = new Feeding().asked()
    val child = ChildShard(shardId(7), Seq(shardId(0)), HashKeyRange.All)
    it.call.subscriber.event(ShardEvent(recordsOf(1 to 1), None, Some(0), Seq(child)))
    val page = it.next().getOrElse(fail("no page"))
    assert(page.next.isEmpty && page.children === Seq(child))
    assert(it.call.isClosed && it.calls.size === 1)
  }

  test("`restart` begins at the position, and not after a page that was not taken") {
    val it = new Feeding().asked()
    it.push(1 to 3)
    it.look()
    it.feed.restart()
    it.asked()
    assert(it.call.from === Position.TrimHorizon)
    it.push(1 to 3)
    assert(it.numbers(it.next()) === Seq(1, 2, 3))
  }

  test("`close` ends the subscription, and no other one stays open") {
    val it = new Feeding().asked()
    it.feed.close()
    assert(it.call.isClosed)
    it.feed.restart()
    it.now += 10000
    it.next()
    assert(it.calls.forall(_.isClosed))
  }

  test("renewals of shards that began together are spread") {
    def lifetime(chance: Double): FiniteDuration = {
      val it = new Feeding(chance).asked()
      it.push(1 to 0)
      it.next()
      it.now += 200000 // the limit is that of the silence before
      it.asked().readiness match {
        case Awaits(limit) =>
          it.now += 40000
          it.push(1 to 0)
          it.next()
          it.asked().readiness match {
            case Awaits(rest) => 240.seconds + rest
            case _ => limit
          }
        case other => fail(s"$other")
      }
    }
    assert(lifetime(0) === 285.seconds && lifetime(0.2) === 273600.millis)
  }
}
