package sparkkinesis.source.fetch

import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.model.{Position, ShardId, StreamRef}
import sparkkinesis.shard.{FetchMemory, ReadSettings, ShardRange, StreamClient}
import sparkkinesis.source.ScriptedKinesis.recordsOf
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.ReadAheadDriver
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.Stores
import sparkkinesis.source.{OneShard, ReadOnlyKinesis}

/**
 * Uses real threads and the machine's clock. Each wait is bounded and ends as early as possible.
 */
class FetchServiceSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(20, Seconds), Span(10, Millis))

  private val shard = shardOf(0)
  private val records = recordsOf(1 to 50).toVector
  private val settings =
    FetchSettings(
      ReadSettings(10, 1.milli, 5.millis),
      bufferBytes = Some(1000000),
      spillBytes = 0,
      limits = ReadLimits.None
    )
  private def offsetAt(progress: Progress) = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap(shard.shard -> ShardProgress(progress, Set.empty))
    )
  )
  private val start = offsetAt(Progress.TrimHorizon)

  /** A running service, its driver, and faults between them. */
  private class Running(kinesis: KinesisClient, executor: String, clock: Clock) {
    val driver = new ReadAheadDriver(10.seconds)
    driver.advance(start, start)
    @volatile var trouble: () => Unit = () => ()
    val released = new AtomicInteger
    private val link: HeartbeatLink = { status =>
      trouble()
      driver.answer(status)
    }
    val service: FetchService = new FetchService(
      executor,
      "localhost",
      Map(arn -> StreamClient(stream, kinesis)),
      () => { released.incrementAndGet(); () },
      settings,
      link,
      clock
    ).start()

    def marks: Seq[Mark] = driver.frontiers.get(shard).toSeq.flatMap(_.marks)
  }

  private def serviceThreads: Seq[Thread] = Thread.getAllStackTraces.keySet
    .toArray(Array.empty[Thread])
    .filter(_.getName.startsWith("spark-kinesis-"))
    .toSeq

  private def running(kinesis: KinesisClient, clock: Clock = SystemClock)(
      use: Running => Unit
  ): Unit = {
    val before = serviceThreads.toSet
    val running = new Running(kinesis, "a", clock)
    try use(running)
    finally running.service.close()
    eventually(assert(serviceThreads.forall(before), "no thread is left"))
    assert(running.released.get === 1 && !running.service.isRunning)
  }

  test("a service fills the store, reports each page once, and uses daemon threads") {
    running(new OneShard(records)) { running =>
      eventually(assert(running.marks.map(_.records).sum === 50))
      val range = ShardRange(shard, Progress.TrimHorizon, running.marks.last.upTo)
      assert(Stores.records(running.service.store, range) === Some(records))
      eventually(assert(running.driver.counters.records === 50))
      val counters = running.driver.counters
      assert(counters.requests > 0 && counters.times.counts.values.sum === counters.requests)
      assert(serviceThreads.nonEmpty && serviceThreads.forall(_.isDaemon))
    }
  }

  test("a service stops when the driver asks for it, and when the driver is gone") {
    running(new OneShard(records)) { running =>
      running.driver.stop()
      eventually(assert(!running.service.isRunning))
      eventually(assert(running.driver.executors.allKnowOfStop))
    }
    running(new OneShard(records)) { running =>
      running.trouble = () => throw new QueryGone("the query has ended")
      eventually(assert(!running.service.isRunning))
    }
  }

  test("close interrupts a call that hangs") {
    val called = new AtomicInteger
    val hanging = new ReadOnlyKinesis {
      override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator = {
        called.incrementAndGet()
        new java.util.concurrent.CountDownLatch(1).await() // until interrupted
        ShardIterator("never")
      }
    }
    running(hanging)(_ => eventually(assert(called.get === 1)))
  }

  test("a service that ends unexpectedly tells the driver why") {
    running(new OneShard(records)) { running =>
      val calls = new AtomicInteger
      running.trouble =
        () => if (calls.getAndIncrement() == 0) throw new NoClassDefFoundError("a missing class")
      eventually(assert(running.driver.executors.crash.exists(_.contains("a missing class"))))
      eventually(assert(!running.service.isRunning))
    }
  }

  private def reporters: Set[Thread] =
    Thread.getAllStackTraces.keySet.asScala.filter(_.getName == "spark-kinesis-report").toSet

  test("a service that cannot even tell why ends without an error that would end its executor") {
    val (before, others) = (Thread.getDefaultUncaughtExceptionHandler, reporters)
    val uncaught = new ConcurrentLinkedQueue[Throwable]
    Thread.setDefaultUncaughtExceptionHandler((_, e) => uncaught.add(e): Unit)
    try
      running(new OneShard(records)) { running =>
        running.trouble = () => throw new NoClassDefFoundError("a missing class")
        eventually(assert(!running.service.isRunning && reporters.diff(others).isEmpty))
        assert(uncaught.isEmpty)
      }
    finally Thread.setDefaultUncaughtExceptionHandler(before)
  }

  test("a time of day that jumps by hours changes nothing") {
    val jumps = new AtomicInteger
    val clock = new Clock {
      override def now: Instant =
        SystemClock.now.plusSeconds(if (jumps.incrementAndGet() % 3 == 0) 7200 else 0)
      override def elapsedMillis: Long = SystemClock.elapsedMillis
      override def sleep(duration: FiniteDuration): Unit = SystemClock.sleep(duration)
    }
    running(new OneShard(records), clock) { running =>
      eventually(assert(running.marks.map(_.records).sum === 50))
      assert(running.service.isRunning && running.driver.executors.failure.isEmpty)
    }
  }

  private val failures = Seq(
    new KinesisException.AccessDenied("no") -> "KINESIS_ACCESS_DENIED",
    new KinesisException.BadCredentials("no") -> "KINESIS_BAD_CREDENTIALS",
    new KinesisException.InvalidArgument("no") -> "KINESIS_INVALID_REQUEST",
    new IllegalStateException("a bug") -> "KINESIS_INTERNAL_ERROR",
    new NoClassDefFoundError("a broken class path") -> "KINESIS_INTERNAL_ERROR"
  )

  test("a failure that is not retryable is reported to the driver, with stream and shard") {
    failures.foreach { case (cause, condition) =>
      val failing = new ReadOnlyKinesis {
        override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator =
          throw cause
      }
      running(failing) { running =>
        eventually(assert(running.driver.executors.failure.map(_.condition) === Some(condition)))
        val message = running.driver.executors.failure.get.message
        assert(message.contains(stream.toString) && message.contains(shard.shard.name))
      }
    }
  }

  test("a service has a part of the memory only while it reads a shard") {
    val memory = new FetchMemory
    val other = memory.join(1000)
    val plans = new AtomicReference(Vector.empty[Assignment])
    val versions = new AtomicInteger
    val service = new FetchService(
      "a",
      "localhost",
      Map(arn -> StreamClient(stream, new OneShard(records))),
      () => (),
      settings,
      _ =>
        HeartbeatReply(
          versions.incrementAndGet().toLong,
          isStopped = false,
          Some(FetchPlan(plans.get, Map.empty))
        ),
      SystemClock,
      memory
    ).start()
    try {
      assert(other.bytes === 1000)
      plans.set(Vector(Assignment(shard, 1, Progress.TrimHorizon)))
      eventually(assert(other.bytes === 500 && service.store.bytes > 0))
      plans.set(Vector.empty)
      eventually(assert(other.bytes === 1000 && service.store.bytes === 0))
    } finally service.close()
  }

  test("the number of the query's shards limits the marks of a page") {
    val limits = new ConcurrentLinkedQueue[Int]
    val kinesis = new ReadOnlyKinesis {
      override def shardIterator(s: StreamRef, shard: ShardId, p: Position): ShardIterator =
        ShardIterator("first")
      override def getRecords(s: StreamRef, iterator: ShardIterator, limit: Int): Page = {
        limits.add(limit)
        Page(Vector.empty, Some(iterator), 0, Nil)
      }
    }
    val plan = FetchPlan(
      Vector(Assignment(shard, 1, Progress.TrimHorizon)),
      Map.empty,
      shards = 10000
    )
    val service = new FetchService(
      "a",
      "localhost",
      Map(arn -> StreamClient(stream, kinesis)),
      () => (),
      settings.copy(
        reads = settings.reads.copy(maxRecords = 10000),
        bufferBytes = Some(100000000),
        limits = ReadLimits(Some(1000), None)
      ),
      _ => HeartbeatReply(1, isStopped = false, Some(plan)),
      SystemClock
    ).start()
    try eventually(assert(limits.peek === 20 * 31))
    finally service.close()
  }
}
