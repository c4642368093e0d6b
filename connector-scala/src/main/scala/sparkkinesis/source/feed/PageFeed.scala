package sparkkinesis.source.feed

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.{Moment, Page}
import sparkkinesis.model.Position

/** Where the pages of one shard come from. Used by one thread at a time. */
private[source] trait PageFeed extends AutoCloseable {
  import PageFeed._

  /** Whether the service sends pages by itself. */
  def isPushed: Boolean

  def readiness(at: Moment): Readiness

  /**
   * Gets the next page, or asks for it. May throw any `KinesisException`. Returns the same page
   * until `took` or `restart` is called.
   *
   * @param position where reading begins, if it does not continue after the last page
   * @return the page, and the time at which the service was asked for it or for something before it
   */
  def next(position: Position, at: Moment): Either[NoPage, (Page, Moment)]

  /** The page is read. The next one follows it. */
  def took(): Unit

  /**
   * Whether the page that has arrived should not be the last one that the service was asked for.
   */
  def mayAskAhead(at: Moment): Boolean = false

  /** Asks for the page after it. */
  def askAhead(): Unit = ()

  /** Whether it still needs the room that was reserved for a page. */
  def keepsRoom: Boolean

  /** The time to wait for the page after this one, before jitter. */
  def pauseAfter(page: Page, now: Instant): FiniteDuration

  /** The next page begins at the position of the next call. */
  def restart(): Unit
}

private[source] object PageFeed {

  /** Whether `next` makes sense. */
  sealed trait Readiness

  /** The feed is ready if there is room for a page. */
  case object NeedsRoom extends Readiness

  /** The feed is ready without room, because a page has arrived or something else has happened. */
  case object HasNews extends Readiness

  /** Why there is no page yet. */
  sealed trait NoPage

  /**
   * The service was asked for a page, and the feed reports its arrival.
   *
   * @param limit after this time it makes sense to ask again
   */
  final case class Asked(limit: FiniteDuration) extends Readiness with NoPage

  /** The service may not be asked yet. */
  final case class Paced(pause: FiniteDuration) extends Readiness with NoPage

  /** The outcome if there is no memory for the page, which has so many bytes. */
  final case class TooLarge(bytes: Long) extends NoPage
}
