package sparkkinesis.shard.feed

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.KinesisException
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.shard.ReadSettings

/**
 * Decides whether a failed call to a shard is retried and when. Used by one thread at a time.
 *
 * @param timeout how long calls may fail in a row; `None` if for ever. With zero, the first failure
 *   counts
 * @param chance evenly distributed in `[0, 1)`, for jitter
 */
private[feed] final class ReadRetries(
    shard: StreamShard,
    timeout: Option[FiniteDuration],
    chance: () => Double
) {
  import ReadRetries._
  import ReadStep._

  private val log = LoggerFactory.getLogger(classOf[ReadRetries])
  private var failures = 0 // in a row
  private var failingSince = Instant.EPOCH
  private var refusals = 0
  private var hasSucceeded = false
  private var expirations = 0

  /** A call succeeded. */
  def reset(): Unit = {
    hasSucceeded = true
    failures = 0
    refusals = 0
    expirations = 0
  }

  /** An expired iterator is replaced at once, so it must not go on for ever. */
  def expired(cause: KinesisException): NoPage = {
    expirations += 1
    if (expirations <= MostExpirations) Expired else Fails(cause)
  }

  /**
   * @param progress where the shard is read
   * @param now of a clock that never jumps
   */
  def after(
      failure: KinesisException,
      progress: Progress,
      now: Instant
  ): NoPage =
    if (failure.isRetryable || mayBeEarly(failure, progress)) retry(failure, now)
    else Fails(failure)

  /**
   * Throttling ends when other consumers read less, and counts apart. Any other failure must end
   * the query in time.
   */
  def retry(failure: KinesisException, now: Instant): NoPage =
    if (timeout.contains(Duration.Zero)) Fails(failure)
    else if (failure.isThrottling) {
      refusals += 1
      again(failure, refusals)
    } else {
      if (failures == 0) failingSince = now
      failures += 1
      if (isOver(now, limitOf(failure))) Fails(failure) else again(failure, failures)
    }

  /**
   * A few failures around a pause of the machine or of the network are no series, however long they
   * last: one per 15 s must fail, from 4 to 20.
   */
  private def isOver(now: Instant, most: Option[FiniteDuration]): Boolean = most.exists { limit =>
    failures > math.min(20, math.max(4, limit / 15.seconds)) &&
    now.isAfter(failingSince.plusMillis(limit.toMillis))
  }

  /** Where there were no credentials from the beginning, there will probably be none. */
  private def limitOf(failure: KinesisException): Option[FiniteDuration] = failure match {
    case _: KinesisException.BadCredentials if !hasSucceeded =>
      Some(timeout.fold(FirstCredentials)(_.min(FirstCredentials)))
    case _ => timeout
  }

  private def again(failure: KinesisException, count: Int): NoPage = {
    expirations = 0
    if (count >= NoteworthyFailures)
      log.warn(s"Reading $shard failed $count times in a row: ${failure.getMessage}")
    Retries(failure, ReadSettings.RetryPauses.delay(count, chance()))
  }

  /**
   * A start at the current time of our clock may be in the future of the service, which rejects it.
   */
  private def mayBeEarly(failure: KinesisException, progress: Progress): Boolean =
    (failure, progress) match {
      case (_: KinesisException.InvalidArgument, Progress.AtTimestamp(_)) =>
        failures < EarlyFailures
      case _ => false
    }
}

private object ReadRetries {

  /** When many executors start, the service of the credentials may refuse calls for a while. */
  private val FirstCredentials = 2.minutes
  private val NoteworthyFailures = 5
  private val EarlyFailures = 6

  /** In a row. */
  private val MostExpirations = 20
}
