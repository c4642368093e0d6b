package sparkkinesis.simulator.fanout

import java.time.Instant
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._

import org.scalacheck.{Gen, Shrink}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.client.{ConsumerRef, ConsumerStatus, ConsumerSummary, KinesisException}
import sparkkinesis.model._
import sparkkinesis.simulator.service.{FanOut, SimulatedClock, SimulatedKinesis, Subscription}
import sparkkinesis.simulator.state.{Settings, ShardState}

/** Fan-out rules that only the simulator can show: statuses, limits and pace. */
final class FanOutSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private final class Fixture(settings: Settings = Settings()) {
    val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
    val kinesis = new SimulatedKinesis(clock, settings)
    val stream: StreamRef.ByName = StreamRef.ByName(StreamName("s"))
    val shard: ShardId = ShardId("shardId-000000000000")
    val fanOut: FanOut = kinesis.fanOut
    kinesis.createStream(stream.name, 1)

    def status(consumer: ConsumerSummary): ConsumerStatus =
      fanOut.describe(ConsumerRef.ByArn(consumer.arn)).status

    def put(count: Int, bytes: Int): Unit =
      (1 to count).foreach(_ =>
        kinesis.putRecord(stream.name, PutEntry("k", new Array(bytes), None))
      )

    def subscribe(consumer: ConsumerSummary, position: Position): Subscription =
      fanOut.subscribe(consumer.arn, shard, position)

    def subscribed(consumer: ConsumerSummary): Subscribed =
      kinesis.answer(SubscribeToShard(consumer.arn, shard, Position.TrimHorizon))
  }

  test("creating and deleting a consumer takes time, and only an active consumer can subscribe") {
    val f = new Fixture(Settings(changeTime = 10.seconds))
    val made = f.fanOut.register(f.stream, "one")
    assert(made.status == ConsumerStatus.Creating && f.status(made) == ConsumerStatus.Creating)
    intercept[KinesisException.InUse](f.subscribe(made, Position.Latest))
    f.clock.advance(10.seconds)
    assert(f.status(made) == ConsumerStatus.Active)
    val subscription = f.subscribe(made, Position.Latest)
    f.fanOut.deregister(ConsumerRef.ByArn(made.arn))
    f.fanOut.deregister(ConsumerRef.ByArn(made.arn))
    assert(f.status(made) == ConsumerStatus.Deleting && subscription.next().isEmpty)
    intercept[KinesisException.InUse](f.subscribe(made, Position.Latest))
    intercept[KinesisException.InUse](f.fanOut.register(f.stream, "one"))
    f.clock.advance(10.seconds)
    intercept[KinesisException.NotFound](f.status(made))
    intercept[KinesisException.NotFound](subscription.next())
    assert(f.fanOut.register(f.stream, "one").arn != made.arn)
  }

  test("a refused deletion leaves the consumers unchanged") {
    val f = new Fixture()
    val made = f.fanOut.register(f.stream, "one")
    intercept[KinesisException.InUse](f.kinesis.deleteStream(f.stream.name))
    assert(f.status(made) == ConsumerStatus.Active)
    f.fanOut.deregister(ConsumerRef.ByArn(made.arn))
    f.kinesis.deleteStream(f.stream.name)
    assert(f.kinesis.listStreams().isEmpty)
  }

  test("at most five consumers are in creation at a time, and the setting limits their total") {
    val f = new Fixture(Settings(changeTime = 1.second, consumerLimit = 6))
    (1 to 5).foreach(i => f.fanOut.register(f.stream, s"consumer-$i"))
    intercept[KinesisException.LimitExceeded](f.fanOut.register(f.stream, "six"))
    f.clock.advance(1.second)
    f.fanOut.register(f.stream, "six")
    f.clock.advance(1.second)
    intercept[KinesisException.LimitExceeded](f.fanOut.register(f.stream, "seven"))
  }

  test(
    "with quotas a consumer gets 2 MiB per second and shard, and without them all records at once"
  ) {
    Seq(true, false).foreach { quotas =>
      val f = new Fixture(Settings(quotas = quotas))
      (1 to 4).foreach { _ =>
        f.put(1, 1024 * 1024 - 1)
        f.clock.advance(2.seconds)
      }
      val it = f.subscribe(f.fanOut.register(f.stream, "one"), Position.TrimHorizon)
      assert(it.next().nonEmpty)
      assert(it.next().isEmpty == quotas)
      f.clock.advance(499.millis)
      assert(it.next().isEmpty == quotas)
      f.clock.advance(1.milli)
      assert(it.next().nonEmpty)
    }
  }

  test("an event wakes a watcher of its shard, and a record of another shard does not") {
    val f = new Fixture()
    val (one, two) = (ShardState.id(1), ShardState.id(2))
    f.kinesis.splitShard(f.stream.name, f.shard, HashKey(1000))
    val made = f.fanOut.register(f.stream, "one")
    var woken = Vector.empty[ShardId]
    val watches = Seq(one, two).map { shard =>
      val subscribed = f.kinesis.answer(SubscribeToShard(made.arn, shard, Position.Latest))
      f.kinesis.watchers.add(subscribed, () => woken = woken :+ shard)
    }
    def put(key: Int): Unit = {
      f.kinesis.putRecord(f.stream.name, PutEntry("k", new Array(1), Some(HashKey(key))))
      ()
    }
    woken = Vector.empty
    put(0)
    assert(woken == Seq(one))
    put(1000)
    assert(woken == Seq(one, two))
    f.fanOut.register(f.stream, "two")
    assert(woken.size == 4)
    f.kinesis.createStream(StreamName("other"), 1)
    assert(woken.size == 4)
    watches.foreach(_.close())
    put(0)
    assert(woken.size == 4 && f.kinesis.watchers.size == 0)
  }

  test("a record larger than an event is sent alone") {
    val f = new Fixture()
    f.put(3, 1024 * 1024 - 1)
    val it = f.subscribe(f.fanOut.register(f.stream, "one"), Position.TrimHorizon)
    assert(Seq.fill(4)(it.next().fold(0)(_.records.size)) == Seq(1, 1, 1, 0))
  }

  test("a move of the clock wakes a watcher of a shard") {
    val f = new Fixture
    val subscribed = f.subscribed(f.fanOut.register(f.stream, "one"))
    val woken = new AtomicInteger
    val watching = f.kinesis.watchers.add(
      subscribed,
      () => {
        woken.incrementAndGet()
        ()
      }
    )
    f.kinesis.advance(1.second)
    assert(woken.get == 1)
    watching.close()
    f.kinesis.advance(1.second)
    assert(woken.get == 1)
  }

  test("the pace counts the bytes of a partition key in UTF-8") {
    val f = new Fixture(Settings(quotas = true))
    val subscribed = f.subscribed(f.fanOut.register(f.stream, "one"))
    f.kinesis.putRecord(f.stream.name, PutEntry("é" * 256, Array.emptyByteArray, None))
    f.kinesis.nextEvent(subscribed) match {
      case Right(SubscriptionStep.Send(_, Some(next))) =>
        assert(next.ready == f.kinesis.now.plusNanos(512 * 1000000000L / (2 * 1024 * 1024)))
      case other => fail(s"$other")
    }
  }

  test("records that were trimmed before they were sent are skipped") {
    val f = new Fixture()
    f.put(2, 1)
    val made = f.fanOut.register(f.stream, "one")
    f.clock.advance(25.hours)
    f.put(1, 1)
    val it = f.subscribe(made, Position.TrimHorizon)
    assert(it.next().map(_.records.size).contains(1))
  }

  // A shrunk history is another history; the seed that ScalaCheck prints replays the failing one.
  private implicit val noShrink: Shrink[Vector[Int]] = Shrink.shrinkAny

  test("a reader that resumes at each continuation number gets every record once, in order") {
    forAll(Gen.listOf(Gen.choose(0, 9)).map(_.toVector)) { steps =>
      val f = new Fixture()
      val made = f.fanOut.register(f.stream, "one")
      var position: Position = Position.TrimHorizon
      var open = f.subscribe(made, position)
      var read = Vector.empty[SequenceNumber]
      def take(): Unit = open.next().foreach { event =>
        read = read ++ event.records.map(_.sequenceNumber)
        event.continuation.foreach(number => position = Position.AfterSequenceNumber(number))
      }
      def again(): Unit = {
        f.clock.advance(Subscribed.Takeover)
        open = f.subscribe(made, position)
      }
      steps.foreach {
        case step if step < 5 => f.put(step, 300 * 1024)
        case 5 | 6 => take()
        case 7 => f.clock.advance(6.seconds)
        case _ => again()
      }
      again()
      (0 to steps.size * 5).foreach(_ => take())
      val it = f.kinesis.shardIterator(f.stream, f.shard, Position.TrimHorizon)
      val all = Iterator
        .iterate(f.kinesis.getRecords(f.stream, it, 10000)) { page =>
          f.kinesis.getRecords(f.stream, page.next.get, 10000)
        }
        .take(steps.size + 1)
        .flatMap(_.records.map(_.sequenceNumber))
        .toVector
      assert(read == all)
    }
  }
}
