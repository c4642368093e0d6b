package sparkkinesis.spark.realtime

/**
 * A thread's waits for its next row, which other threads can end: by an interrupt, but only while
 * it waits.
 */
private[spark] final class RowWait {
  private var waiting = Option.empty[Thread]
  private var isEnded = false

  /**
   * Waits by calling `next`.
   *
   * @param check throws the reason why the wait was ended. Called if it was, whatever `next` did
   */
  def apply[A](next: => A)(check: => Unit): A = {
    if (waits(Some(Thread.currentThread))) check
    try next
    finally
      if (waits(None)) {
        Thread.interrupted(): Unit // the interrupt has done its job
        check
      }
  }

  /** Ends this wait and all later ones. */
  def end(): Unit = synchronized {
    isEnded = true
    waiting.foreach(_.interrupt())
  }

  /** @return whether the waits are ended */
  private def waits(thread: Option[Thread]): Boolean = synchronized {
    waiting = thread
    isEnded
  }
}
