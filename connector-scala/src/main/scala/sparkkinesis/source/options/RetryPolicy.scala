package sparkkinesis.source.options

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.Backoff
import sparkkinesis.client.options.Options

/**
 * How a query repeats calls that fail. Calls that a quota refused are repeated without a limit.
 *
 * @param timeout how long calls to one shard may fail in a row; `None` if for ever
 * @param backoff the pauses between the calls
 */
final case class RetryPolicy(timeout: Option[FiniteDuration], backoff: Backoff) {

  /** Whether the failures have lasted too long, in time and in calls. */
  def isOver(streak: FailureStreak, now: Instant): Boolean =
    timeout.exists { limit =>
      streak.failures > RetryPolicy.fewest(limit) &&
      now.isAfter(streak.since.plusMillis(limit.toMillis))
    }
}

object RetryPolicy {
  private val Timeout = "retryTimeout"
  private val Unlimited = "unlimited"

  val Names: Seq[String] = Seq(Timeout)

  /** Pauses do not cause many retries while a service is busy or down. */
  val Default: RetryPolicy = RetryPolicy(Some(5.minutes), Backoff(200.millis, 10.seconds))

  /**
   * A few failures around a pause of the machine or of the network are no series, however long they
   * last: one per 15 s must fail, from 4 to 20.
   */
  private def fewest(limit: FiniteDuration): Long =
    math.min(20, math.max(4, limit / 15.seconds).toLong)

  /** @throws OptionException if an option is invalid */
  def parse(options: Options): RetryPolicy = Default.copy(timeout = timeout(options))

  private def timeout(options: Options): Option[FiniteDuration] =
    if (options.text(Timeout).exists(_.equalsIgnoreCase(Unlimited))) None
    else
      options.duration(Timeout).orElse(Default.timeout).map { limit =>
        if (limit < 1.second)
          throw options.invalid(Timeout, "1s or longer, or unlimited", "Remove it to use 5m.")
        limit
      }
}

/** Number of calls to one shard that failed in a row, and the time of the first one. */
final case class FailureStreak(failures: Int, since: Instant) {
  def next: FailureStreak = copy(failures = failures + 1)
}
