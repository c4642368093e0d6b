package sparkkinesis.spark.once

import scala.annotation.tailrec

/** The body of a thread that serves the tasks of a write, on the driver. */
private[once] object OnceLoop {

  /**
   * Repeats the step until the write is closed or the thread is interrupted. Any other failure,
   * even a fatal one, ends the loop, and the write with it: its tasks would wait for this thread in
   * vain.
   */
  @tailrec
  def run(isClosed: () => Boolean, step: () => Unit, failed: Throwable => Unit): Unit =
    if (!isClosed() && hasGoneWell(isClosed, step, failed)) run(isClosed, step, failed)

  private def hasGoneWell(
      isClosed: () => Boolean,
      step: () => Unit,
      failed: Throwable => Unit
  ): Boolean =
    try {
      step()
      true
    } catch {
      case _: InterruptedException => false
      case e: Throwable =>
        if (!isClosed()) failed(e)
        false
    }
}
