package sparkkinesis.sink.write

import scala.collection.mutable
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.{PutEntry, SequenceNumber, ShardId, ShardMap}
import sparkkinesis.sink.lane.{Lane, Request}
import sparkkinesis.sink.metrics.SinkCounter
import sparkkinesis.sink.once.{OnceSender, OnceTerms, ShardInDoubt, WriterIdentity}
import sparkkinesis.sink.{FakeKinesis, FastClock, SinkOptions}

/** The decisions of a writer, without threads. */
class WriteLoopSuite extends AnyFunSuite with RecordWriterFixture {

  /** Keeps the calls of the loop, so that a test can answer them. */
  private final class Calls extends WriteCalls {
    val sent: mutable.Queue[(StreamWriter, Request)] = mutable.Queue.empty
    val failures: mutable.Buffer[Throwable] = mutable.Buffer.empty
    val recoveries: mutable.Queue[(StreamWriter, Long)] = mutable.Queue.empty
    var listings = 0
    var wakes = 0

    override def send(stream: StreamWriter, request: Request): Unit = sent += stream -> request
    override def list(stream: StreamWriter, known: ShardMap): Unit = listings += 1
    override def recover(stream: StreamWriter, shards: Seq[ShardInDoubt], askedAt: Long): Unit =
      recoveries += stream -> askedAt
    override def wakeEarlier(): Unit = wakes += 1
    override def failed(e: Throwable): Unit = failures += e
  }

  private final class World(options: SinkOptions, once: Option[OnceSender] = None) {
    val calls = new Calls
    private val limited = options.copy(maxRequestRecords = 10, maxRequestBytes = 1000)
    val loop = new WriteLoop(limited, once, () => 0.5, calls)
    private val orders = target(FakeKinesis.willing, new FastClock)
    orders.shards()

    def put(entry: PutEntry, now: Long = 0): Unit = loop.put(orders, entry, now)

    /** The oldest request in flight is written. */
    def answer(now: Long = 1): Unit = {
      val (stream, request) = calls.sent.dequeue()
      val written = PutResult.Written(ShardId("s"), SequenceNumber("1"))
      loop.answered(stream, request, Right(request.records.toSeq.map(_ => written)), now)
    }

    def fail(e: Throwable, now: Long = 1): Unit = {
      val (stream, request) = calls.sent.dequeue()
      loop.answered(stream, request, Left(e), now)
    }
  }

  test("there is room for the bytes of the records and 128 bytes per record") {
    val world = new World(lingering.copy(maxBufferedBytes = 5 * (4 + 128)))
    (1 to 5).foreach { i =>
      assert(world.loop.hasRoom(entry(i.toString)))
      world.put(entry(i.toString))
    }
    assert(!world.loop.hasRoom(entry("6")) && world.loop.bufferedBytes === 20)
    world.loop.startUrgency(0)
    world.answer()
    assert(world.loop.hasRoom(entry("6")) && world.loop.bufferedRecords === 0)
  }

  test("a record larger than the memory has room only when no other is buffered") {
    val world = new World(lingering.copy(maxBufferedBytes = 500))
    val large = entry("x" * 900)
    assert(world.loop.hasRoom(large))
    world.put(entry("1"))
    assert(!world.loop.hasRoom(large))
  }

  test("the owner waits while a full request waits for one in flight") {
    val world = new World(lingering.copy(maxInFlightRequests = 1))
    (1 to 19).foreach(i => world.put(entry(i.toString)))
    assert(world.calls.sent.size === 1 && world.loop.mayContinue)
    world.put(entry("20"))
    assert(world.calls.sent.size === 1 && !world.loop.mayContinue)
    world.answer()
    assert(world.calls.sent.size === 1 && world.loop.mayContinue)
  }

  test("a record is sent when it has lingered, at the tick that the loop requests") {
    val world = new World(patient.copy(givenLinger = Some(100.millis)))
    world.put(entry("1"), now = 50)
    assert(world.calls.wakes > 0 && world.loop.tickAt === 150 && world.calls.sent.isEmpty)
    world.loop.tick(150)
    assert(world.calls.sent.size === 1)
  }

  test("a tick follows at least every 200 ms, so that a due listing starts") {
    val world = new World(lingering)
    world.put(entry("1"))
    assert(world.loop.tickAt === 200)
    world.loop.tick(200)
    assert(world.loop.tickAt === 400)
  }

  test("a short linger time holds for each record, and costs an idle writer no ticks") {
    val world = new World(patient.copy(givenLinger = Some(5.millis)))
    world.put(entry("1"))
    assert(world.loop.tickAt === 5)
    world.loop.tick(5)
    assert(world.calls.sent.size === 1)
    world.answer(now = 6)
    world.loop.tick(world.loop.tickAt)
    assert(world.loop.tickAt > 200, "nothing waits")
    world.put(entry("2"), now = 100)
    assert(world.loop.tickAt === 105)
    world.put(entry("3"), now = 103)
    world.loop.tick(105)
    assert(world.calls.sent.size === 1)
  }

  test("a task that may not send, because the driver's log is out of reach, blames no shard") {
    val clock = new FastClock
    val sender = new OnceSender(WriterIdentity("q", 1, "i", 0, 0, 5), OnceTerms(), clock)
    sender.hold(clock.moment, millis = 200)
    val world = new World(patient, Some(sender))
    world.put(entry("1"))
    world.loop.startUrgency(0)
    world.fail(new KinesisException.Throttled("slow down"), now = 190)
    world.loop.tick(200)
    assert(world.loop.metrics(60000).sleepMillis === 10)
    world.loop.tick(5000)
    sender.hold(clock.moment, millis = 60000)
    world.loop.tick(9000)
    assert(world.calls.sent.nonEmpty)
    world.loop.tick(20000)
    assert(world.loop.metrics(20000)(SinkCounter.LongestPermissionWait) === 8800)
  }

  test("the first failure ends the loop, and no call follows it") {
    val world = new World(lingering)
    (1 to 20).foreach(i => world.put(entry(i.toString)))
    assert(world.calls.sent.size === 2)
    val denied = new KinesisException.AccessDenied("no")
    world.fail(denied)
    world.fail(new KinesisException.AccessDenied("no, again"))
    assert(world.calls.failures === Seq(denied) && world.loop.failure.contains(denied))
    world.loop.startUrgency(10000)
    world.loop.tick(10000)
    assert(world.calls.sent.isEmpty && world.calls.listings === 0)
  }

  test("the delivery timeout counts while a request is in flight, also at the limit of requests") {
    val world = new World(patient.copy(deliveryTimeout = 30.seconds, maxInFlightRequests = 1))
    world.put(entry("1"))
    world.loop.startUrgency(0)
    world.fail(new KinesisException.Unreachable("reset"), now = 10000)
    world.loop.tick(20000)
    assert(world.calls.sent.size === 1, "sent again, and not answered")
    world.loop.tick(29999)
    assert(world.loop.failure.isEmpty)
    world.loop.tick(30000)
    val message = world.loop.failure.map(_.getMessage).mkString
    assert(message.startsWith("Stream orders, shard s, did not accept a record within 30 seconds"))
    assert(message.endsWith("The first failure was: reset"))
  }

  test("a request that is never answered fails after the delivery timeout") {
    val world = new World(patient.copy(deliveryTimeout = 30.seconds))
    world.put(entry("1"))
    world.loop.startUrgency(0)
    world.loop.tick(29999)
    assert(world.calls.sent.size === 1 && world.loop.failure.isEmpty)
    world.loop.tick(30000)
    val message = world.loop.failure.map(_.getMessage).mkString
    assert(message.endsWith("The first failure was: Kinesis has not answered the request."))
  }

  test("counts are exact, and shards are measured twice per second and at the end") {
    val world = new World(lingering)
    def records(now: Long) = {
      val metrics = world.loop.metrics(now)
      metrics(SinkCounter.RecordsWritten) -> metrics.shards.map(_.records).sum
    }
    (1 to 19).foreach(i => world.put(entry(i.toString)))
    assert(records(0) === 0 -> 0)
    world.answer()
    assert(records(499) === 10 -> 0)
    assert(records(500) === 10 -> 10)
    world.loop.startUrgency(501)
    world.answer(now = 501)
    assert(records(501) === 19 -> 19)
  }

  test("after close, responses have no effect") {
    val world = new World(lingering)
    (1 to 10).foreach(i => world.put(entry(i.toString)))
    world.loop.close()
    val metrics = world.loop.metrics(1)
    world.answer(now = 2)
    assert(world.loop.metrics(2) === metrics && world.loop.bufferedBytes === 0)
    assert(world.loop.failure.exists(_.getMessage === "The writer is closed."))
    assert(world.loop.tickAt < Lane.Never)
  }
}
