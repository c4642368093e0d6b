package sparkkinesis.sink.rate

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, LinkedBlockingQueue, TimeUnit}

import org.scalatest.concurrent.Eventually._
import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

class SharedCallSuite extends AnyFunSuite {
  private val soon: Timeout = Timeout(Span(60, Seconds))

  /** Several threads that need the same call, which ends when the test says so. */
  private final class Callers(answer: () => Int) {
    private val shared = new SharedCall[Integer]
    private val end = new CountDownLatch(1)
    val calls = new AtomicInteger
    val outcomes = new LinkedBlockingQueue[Either[String, Int]]

    val threads: Seq[Thread] = Seq.fill(8) {
      val thread = new Thread(() => outcomes.put(outcome()))
      thread.setDaemon(true)
      thread.start()
      eventually(soon)(assert(thread.getState === Thread.State.WAITING))
      thread
    }

    private def outcome(): Either[String, Int] =
      try Right(shared.after(None) { calls.incrementAndGet(); end.await(); answer() })
      catch { case e: Throwable => Left(e.getClass.getSimpleName) }

    def next(): Either[String, Int] = outcomes.poll(1, TimeUnit.MINUTES)
    def finish(): Seq[Either[String, Int]] = {
      end.countDown()
      Seq.fill(8 - interrupted)(next())
    }
    var interrupted = 0
  }

  test("one thread makes the call, and all get its answer or failure") {
    val good = new Callers(() => 7)
    assert(good.finish() === Seq.fill(8)(Right(7)) && good.calls.get === 1)
    val bad = new Callers(() => throw new IllegalStateException("no"))
    assert(bad.finish() === Seq.fill(8)(Left("IllegalStateException")) && bad.calls.get === 1)
  }

  test("a thread that is interrupted ends at once, and another one makes its call") {
    val it = new Callers(() => 7)
    Seq(it.threads.last, it.threads.head).foreach { thread =>
      it.interrupted += 1
      thread.interrupt()
      assert(it.next() === Left("InterruptedException"))
    }
    eventually(soon) {
      val others = it.threads.tail.init
      assert(it.calls.get === 2 && others.forall(_.getState == Thread.State.WAITING))
    }
    assert(it.finish() === Seq.fill(6)(Right(7)))
  }

  test("a call is made again only for a caller that knows its last answer") {
    val shared = new SharedCall[String]
    val first = shared.after(None)("first")
    assert(shared.after(None)("second") eq first)
    assert(shared.after(Some(first))("second") === "second" && shared.last === Some("second"))
  }
}
