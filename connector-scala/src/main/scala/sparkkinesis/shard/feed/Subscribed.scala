package sparkkinesis.shard.feed

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{EventSubscription, Moment}

/**
 * A subscription. Late events of an earlier one are in another inbox.
 *
 * @param began when the call began
 * @param lifetime in milliseconds
 * @param isContinuation whether it began after an earlier event
 */
private[feed] final class Subscribed(
    val inbox: EventInbox,
    val subscription: EventSubscription,
    val began: Moment,
    lifetime: Long,
    val isContinuation: Boolean
) {
  var askedAt: Option[Long] = None // for an event that has not arrived
  var isAskedAhead = false // for one more, before the last one was taken
  var serverTime: Option[Instant] = None
  var isOpened = false
  var hasEvents = false
  private val begin = began.steady.toEpochMilli
  private var heardAt = begin

  def opened(time: Option[Instant], now: Long): Unit = {
    serverTime = time
    isOpened = true
    heardAt = now
  }

  def heard(now: Long): Unit = {
    isOpened = true
    hasEvents = true
    heardAt = now
  }

  /** The event was taken. */
  def taken(now: Long): Unit = {
    inbox.drop()
    askedAt = if (isAskedAhead) Some(now) else None
    isAskedAhead = false
  }

  /** Whether the subscription is silent. While nothing was asked for, silence says nothing. */
  def isSilent(now: Long): Boolean =
    askedAt.exists(since(_) + Subscribed.LongestSilence.toMillis <= now)

  def isOld(now: Long): Boolean = begin + lifetime <= now

  /** Whether no more event is expected from it. While nothing was asked for, it may get old. */
  def isOver(now: Long): Boolean = askedAt.nonEmpty && (isSilent(now) || isOld(now))

  /** The time until it is silent or old. */
  def limit(now: Long): FiniteDuration = {
    val silent = askedAt.fold(Long.MaxValue)(since(_) + Subscribed.LongestSilence.toMillis)
    (math.min(silent, begin + lifetime) - now).max(0).millis
  }

  def close(): Unit = {
    inbox.close()
    subscription.close()
  }

  private def since(asked: Long) = math.max(asked, heardAt)
}

private[feed] object Subscribed {

  /** The service sends an event about every five seconds, even an empty one. */
  val LongestSilence: FiniteDuration = 45.seconds
}
