package sparkkinesis.sink.write

import java.time.Instant
import java.util.concurrent.atomic.{AtomicBoolean, AtomicReference}
import java.util.concurrent.{ConcurrentHashMap, Semaphore}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{Clock, KinesisException, SystemClock}
import sparkkinesis.sink.lane.RequestLimits
import sparkkinesis.sink.{FakeKinesis, FastClock, SinkOptions}

/** A writer that must stop stops, wherever it waits. */
class RecordWriterStopSuite extends AnyFunSuite with RecordWriterFixture {

  /** A service that never answers, and the threads that wait for it. */
  private final class Hanging {
    private val seen = ConcurrentHashMap.newKeySet[Thread]()

    val kinesis: FakeKinesis = new FakeKinesis((_, _) => {
      seen.add(Thread.currentThread)
      new Semaphore(0).acquire()
      Nil
    })

    def isCalled: Boolean = !seen.isEmpty
    def threads: Seq[Thread] = seen.asScala.toSeq.filter(_.isAlive)
  }

  private val full = patient.copy(maxBufferedBytes = 40)

  private val tasks = Seq[OneStream => Unit](
    writer => (1 to 100).foreach(i => writer.put(entry(i.toString))),
    writer => {
      writer.put(entry("1"))
      writer.flush()
    }
  )

  test("the owner keeps the delivery timeout, even if the thread that ticks has died") {
    val owner = Thread.currentThread
    val time = new FastClock
    var waits = 0
    val clock = new Clock {
      override def now: Instant = time.now
      override def sleep(duration: FiniteDuration): Unit = time.sleep(duration)
      override def await(monitor: AnyRef, millis: Long): Unit =
        if (Thread.currentThread eq owner) {
          waits += 1
          assert(waits < 10000, "the owner would wait for ever")
          time.await(monitor, millis)
        } else throw new InterruptedException // as after an error in that thread
    }
    val options = SinkOptions(deliveryTimeout = 30.seconds)
    using(newWriter((new Hanging).kinesis, options, clock = clock)) { writer =>
      writer.put(entry("1"))
      intercept[DeliveryTimeoutException](writer.flush())
    }
  }

  /**
   * Each task waits for a service that hangs; `stop` must end it with an `InterruptedException`.
   */
  private def stopping(stop: (Thread, AtomicBoolean) => Unit): Unit = tasks.foreach { task =>
    val hanging = new Hanging
    val cancelled = new AtomicBoolean
    val thrown = new AtomicReference[Throwable]
    val clock = new FastClock
    val writer = newWriter(hanging.kinesis, full, clock = clock, isCancelled = () => cancelled.get)
    val owner = thread {
      try using(writer)(task)
      catch { case e: Throwable => thrown.set(e) }
    }
    eventually(soon)(assert(hanging.isCalled))
    val waits = clock.waitsOf(owner)
    eventually(soon)(assert(clock.waitsOf(owner) > waits))
    stop(owner, cancelled)
    eventually(soon)(assert(!owner.isAlive))
    assert(thrown.get.isInstanceOf[InterruptedException])
    eventually(soon)(assert(hanging.threads.isEmpty))
  }

  test("an interrupted task stops, in put and in flush, and leaves no thread behind") {
    stopping((owner, _) => owner.interrupt())
  }

  test("a task that is cancelled without an interrupt stops in put and in flush") {
    stopping((_, cancelled) => cancelled.set(true))
  }

  test("a cancelled task accepts no further record, even if there is room") {
    val cancelled = new AtomicBoolean
    using(newWriter(FakeKinesis.willing, isCancelled = () => cancelled.get)) { writer =>
      writer.put(entry("1"))
      cancelled.set(true)
      val e = intercept[InterruptedException](writer.put(entry("2")))
      assert(e.getMessage === "The task that writes to Kinesis (orders) was cancelled.")
    }
  }

  test("close ends a back-off") {
    val threads = ConcurrentHashMap.newKeySet[Thread]()
    val kinesis = new FakeKinesis((_, _) => {
      threads.add(Thread.currentThread)
      throw new KinesisException.Unreachable("no way")
    })
    val writer = newWriter(kinesis, patient, RequestLimits.of(SinkOptions()), SystemClock)
    writer.put(entry("1"))
    val owner = thread(
      try writer.flush()
      catch { case _: InterruptedException => () }
    )
    eventually(soon)(assert(kinesis.requests.size >= 2))
    owner.interrupt()
    writer.close()
    eventually(soon)(assert(!owner.isAlive))
    eventually(soon)(assert(threads.asScala.forall(!_.isAlive)))
  }

  test("a request that ignores the interrupt does not keep close from returning") {
    val (isCalled, end) = (new AtomicBoolean, new Semaphore(0))
    val writer = newWriter(new FakeKinesis((_, _) => {
      isCalled.set(true)
      end.acquireUninterruptibly()
      Nil
    }))
    writer.put(entry("1"))
    eventually(soon)(assert(isCalled.get))
    val owner = thread {
      writer.close()
      writer.close()
    }
    eventually(soon)(assert(!owner.isAlive))
    end.release()
  }
}
