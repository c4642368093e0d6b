package sparkkinesis.spark.realtime

import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.scalatest.funsuite.AnyFunSuite

/** Waits for rows that another thread ends. */
class RowWaitSuite extends AnyFunSuite {
  private def failed = new IllegalStateException("the writer failed")

  /** Waits until it is interrupted. Afterwards `true`, as if nothing had happened. */
  private def sleep(begun: CountDownLatch): Boolean = {
    begun.countDown()
    try new CountDownLatch(1).await(60, TimeUnit.SECONDS)
    catch { case _: InterruptedException => true }
  }

  private def endAfter(begun: CountDownLatch, wait: RowWait): Thread = {
    val thread = new Thread(() => { begun.await(); wait.end() })
    thread.start()
    thread
  }

  test("nothing happens to a wait that nobody ends") {
    val wait = new RowWait
    assert(wait("row")(throw failed) === "row")
    val e = new RuntimeException("the source failed")
    assert(intercept[RuntimeException](wait(throw e)(throw failed)) eq e)
  }

  test("the end of a wait interrupts it and throws the reason, whatever the wait made of it") {
    def reaction(next: CountDownLatch => Boolean) = {
      val (wait, begun) = (new RowWait, new CountDownLatch(1))
      val thread = endAfter(begun, wait)
      val e = intercept[IllegalStateException](wait(next(begun))(throw failed))
      thread.join()
      assert(!Thread.currentThread.isInterrupted)
      e.getMessage
    }
    assert(reaction(sleep) === "the writer failed")
    assert(reaction { begun => sleep(begun); throw new InterruptedException } === failed.getMessage)
    assert(
      reaction { begun =>
        sleep(begun); Thread.currentThread.interrupt(); true
      } === failed.getMessage
    )
  }

  test("an end between two waits interrupts nothing, and the next one does not begin") {
    val wait = new RowWait
    wait("row")(throw failed)
    wait.end()
    assert(!Thread.currentThread.isInterrupted)
    var begun = false
    assertThrows[IllegalStateException](wait { begun = true }(throw failed))
    assert(!begun)
  }
}
