package sparkkinesis.spark.once

import org.scalatest.funsuite.AnyFunSuite

/** How a thread of a write ends. */
class OnceLoopSuite extends AnyFunSuite {

  /** How often the step ran, and what was reported. */
  private def run(isClosed: => Boolean)(step: Int => Unit): (Int, Seq[Throwable]) = {
    var (steps, failures) = (0, Vector.empty[Throwable])
    OnceLoop.run(
      () => isClosed,
      () => {
        steps += 1
        step(steps)
      },
      failures :+= _
    )
    (steps, failures)
  }

  test("a fatal failure is reported, and ends the thread") {
    Seq(new OutOfMemoryError("a test"), new NoClassDefFoundError("a test")).foreach { e =>
      assert(run(isClosed = false)(it => if (it == 3) throw e) === ((3, Seq(e))))
    }
  }

  test("an interrupt ends the thread without a report") {
    val ended = run(isClosed = false)(_ => throw new InterruptedException)
    assert(ended === ((1, Nil)))
  }

  test("a failure after the end is not reported") {
    var isClosed = false
    val ended = run(isClosed) { _ =>
      isClosed = true
      throw new IllegalStateException("closed")
    }
    assert(ended === ((1, Nil)))
  }
}
