package sparkkinesis.shard.feed

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.{Moment, Page}
import sparkkinesis.model.Position

/** Where the pages of one shard come from. Used by one thread at a time. */
private[sparkkinesis] trait PageFeed extends AutoCloseable {
  import ReadStep._

  /** Whether the service sends pages by itself. */
  def isPushed: Boolean

  def readiness(at: Moment): Readiness

  /**
   * Gets the next page, or asks for it. May throw any `KinesisException`. If it is not taken, the
   * next call returns it again.
   *
   * @param position where reading begins, if it does not continue after the last page
   * @return the page, and the time at which the service was asked for it or for something before it
   */
  def next(position: Position, at: Moment): Either[NotYet, (Page, Moment)]

  /** The page is read. The next one follows it. */
  def took(): Unit

  /** The step is over, and its page is stored or dropped. One that was not taken comes again. */
  def release(): Unit

  /**
   * Whether the page that has arrived should not be the last one that the service was asked for.
   */
  def mayAskAhead(at: Moment): Boolean = false

  /** Asks for the page after it. */
  def askAhead(): Unit = ()

  /** Whether the service sends pages by itself, and may have no more of them. */
  def isQuiet(at: Moment): Boolean = false

  /** Whether it still needs the room that was reserved for a page. */
  def keepsRoom: Boolean

  /** The time to wait for the page after this one, before jitter. */
  def pauseAfter(page: Page, now: Instant): FiniteDuration

  /** The next page begins at the position of the next call. */
  def restart(): Unit
}
