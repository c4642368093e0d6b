package sparkkinesis.sink.write

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import java.util.concurrent.{ConcurrentHashMap, Semaphore}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.scalatest.concurrent.Eventually._
import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Span}

import sparkkinesis.client.{KinesisException, ListShardsRequest, ShardListing, SystemClock}
import sparkkinesis.sink.FakeKinesis
import sparkkinesis.sink.lane.RequestLimits

/** A writer that is told to stop stops, wherever it waits. */
class RecordWriterStopSuite extends AnyFunSuite with RecordWriterFixture {
  private val twoSeconds = 2000L
  private val bound = Timeout(Span(twoSeconds, Millis))

  /** A service that never answers, and the threads that wait for it. */
  private final class Hanging {
    private val seen = ConcurrentHashMap.newKeySet[Thread]()

    val kinesis: FakeKinesis = new FakeKinesis((_, _) => {
      seen.add(Thread.currentThread)
      new Semaphore(0).acquire()
      Nil
    })

    def isAsked: Boolean = !seen.isEmpty
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

  /** Each task waits for a service that hangs; `stop` is to end it with an `InterruptedException`. */
  private def stopping(stop: (Thread, AtomicBoolean) => Unit): Unit = tasks.foreach { task =>
    val hanging = new Hanging
    val cancelled = new AtomicBoolean
    val thrown = new AtomicReference[Throwable]
    val writer = newWriter(hanging.kinesis, full, isCancelled = () => cancelled.get)
    val owner = thread {
      try using(writer)(task)
      catch { case e: Throwable => thrown.set(e) }
    }
    eventually(soon) {
      assert(hanging.isAsked && owner.getState === Thread.State.TIMED_WAITING)
    }
    stop(owner, cancelled)
    owner.join(twoSeconds)
    assert(!owner.isAlive)
    assert(thrown.get.isInstanceOf[InterruptedException])
    eventually(soon)(assert(hanging.threads.isEmpty))
  }

  test("an interrupted task stops within two seconds, in put and in flush, and leaks no thread") {
    stopping((owner, _) => owner.interrupt())
  }

  test("a task that is cancelled without an interrupt stops as soon") {
    stopping((_, cancelled) => cancelled.set(true))
  }

  test("a cancelled task takes no further record, though there is room") {
    val cancelled = new AtomicBoolean
    using(newWriter(FakeKinesis.willing, isCancelled = () => cancelled.get)) { writer =>
      writer.put(entry("1"))
      cancelled.set(true)
      val e = intercept[InterruptedException](writer.put(entry("2")))
      assert(e.getMessage === "Writing to stream orders ends: its task was cancelled.")
    }
  }

  test("close during a back-off ends it") {
    val threads = ConcurrentHashMap.newKeySet[Thread]()
    val kinesis = new FakeKinesis((_, _) => {
      threads.add(Thread.currentThread)
      throw new KinesisException.Unreachable("no way")
    })
    val writer = newWriter(kinesis, patient, RequestLimits.Default, SystemClock)
    writer.put(entry("1"))
    val owner = thread(
      try writer.flush()
      catch { case _: InterruptedException => () }
    )
    eventually(soon)(assert(kinesis.requests.size >= 2))
    owner.interrupt()
    writer.close()
    owner.join(twoSeconds)
    assert(!owner.isAlive)
    eventually(soon)(assert(threads.asScala.forall(!_.isAlive)))
  }

  /** Tasks of one executor that wait for the first listing of their stream, and end one by one. */
  private def stoppingAtTheListing(stop: (Thread, AtomicBoolean) => Unit): Unit = {
    eventually(soon)(assert(writerThreads === 0, "of other tests"))
    val stream = target(unlisted, SystemClock)
    val interrupted = new AtomicInteger
    val tasks = Seq.fill(3) {
      val cancelled = new AtomicBoolean
      val owner = thread {
        val (limits, random) = (RequestLimits.Default, new Random(1))
        val writer = new RecordWriter(limits, patient, SystemClock, random, () => cancelled.get)
        try writer.put(stream, entry("1"))
        catch { case _: InterruptedException => interrupted.incrementAndGet() }
        finally writer.close()
      }
      (owner, cancelled)
    }
    eventually(soon)(assert(writerThreads === 3 && tasks.forall(it => isWaiting(it._1))))
    tasks.zipWithIndex.foreach { case ((owner, cancelled), i) =>
      stop(owner, cancelled)
      eventually(bound)(assert(!owner.isAlive && writerThreads === 2 - i))
    }
    assert(interrupted.get === 3)
  }

  private def unlisted: FakeKinesis = new FakeKinesis((_, _) => Nil) {
    override def listShards(request: ListShardsRequest): ShardListing = {
      new Semaphore(0).acquire()
      throw new IllegalStateException
    }
  }

  private def writerThreads: Int =
    Thread.getAllStackTraces.keySet.asScala.count(_.getName.startsWith("spark-kinesis-writer"))

  private def isWaiting(thread: Thread): Boolean =
    Set(Thread.State.WAITING, Thread.State.TIMED_WAITING, Thread.State.BLOCKED)(thread.getState)

  test("a task that waits for the first listing of its stream ends when it is interrupted") {
    stoppingAtTheListing((owner, _) => owner.interrupt())
  }

  test("or cancelled without an interrupt, though other tasks wait on") {
    stoppingAtTheListing((_, cancelled) => cancelled.set(true))
  }

  test("a request that heeds no interrupt is waited for once: abort, then close") {
    val (isAsked, end) = (new AtomicBoolean, new Semaphore(0))
    val writer = newWriter(new FakeKinesis((_, _) => {
      isAsked.set(true)
      end.acquireUninterruptibly()
      Nil
    }))
    writer.put(entry("1"))
    eventually(soon)(assert(isAsked.get))
    val owner = thread {
      writer.close()
      writer.close()
    }
    owner.join(twoSeconds)
    assert(!owner.isAlive)
    end.release()
  }
}
