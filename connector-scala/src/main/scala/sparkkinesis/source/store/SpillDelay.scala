package sparkkinesis.source.store

import java.time.Instant

import scala.concurrent.duration._

/**
 * Keeps pages off the disk while batches are short. To write a page and read it again costs more
 * than to wait for the end of a short batch, whose pages leave the memory. Its owner's lock guards
 * it. The reasons are in docs/adr/0017-page-store.md.
 *
 * @param patience the time that memory must be full before pages go to disk
 */
private[store] final class SpillDelay(patience: FiniteDuration) {
  private var open = patience == Duration.Zero
  private var fullSince = Option.empty[Instant]
  private var hasDropped = false

  /** Whether pages may go to disk. */
  def isOpen: Boolean = open

  /** Memory has no room for a page. Call `afterDrop` first. */
  def full(now: Instant): Unit = {
    val since = fullSince.getOrElse(now)
    fullSince = Some(since)
    open ||= isLong(since, now)
  }

  /** Pages have left the store. */
  def dropped(): Unit = hasDropped = true

  /**
   * Begins again after pages were dropped. If memory was full for a short time only, the next page
   * waits again.
   *
   * @param now of a clock that never jumps
   */
  def afterDrop(now: Instant): Unit =
    if (hasDropped) {
      hasDropped = false
      fullSince.foreach(since => open = isLong(since, now))
      fullSince = None
    }

  private def isLong(since: Instant, now: Instant) =
    !now.isBefore(since.plusMillis(patience.toMillis))
}

object SpillDelay {

  /** Longer than most batches of a query that has no trigger interval. */
  val Usual: FiniteDuration = 500.millis
}
