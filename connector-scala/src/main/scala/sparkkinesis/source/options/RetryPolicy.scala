package sparkkinesis.source.options

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.Backoff
import sparkkinesis.client.options.{OptionException, Options}

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
  private val Delay = "retryDelay"
  private val MaxDelay = "maxRetryDelay"
  private val Unlimited = "unlimited"

  val Names: Seq[String] = Seq(Timeout, Delay, MaxDelay)

  /** Pauses do not cause many retries while a service is busy or down. */
  val Default: RetryPolicy = RetryPolicy(Some(5.minutes), Backoff(200.millis, 10.seconds))

  /**
   * A few failures around a pause of the machine or of the network are no series, however long they
   * last: one per 15 s must fail, from 4 to 20.
   */
  private def fewest(limit: FiniteDuration): Long =
    math.min(20, math.max(4, limit / 15.seconds).toLong)

  /** A shard iterator lives for five minutes. */
  private val LongestDelay = 4.minutes

  /** @throws OptionException if an option is invalid */
  def parse(options: Options): RetryPolicy =
    RetryPolicy(timeout(options), Backoff(delay(options), maxDelay(options)))

  private def timeout(options: Options): Option[FiniteDuration] =
    if (options.text(Timeout).exists(_.equalsIgnoreCase(Unlimited))) None
    else
      options.duration(Timeout).orElse(Default.timeout).map { limit =>
        if (limit < 1.second)
          throw options.invalid(Timeout, "1s or longer, or unlimited", "Remove it to use 5m.")
        limit
      }

  private def maxDelay(options: Options): FiniteDuration =
    options.duration(MaxDelay).fold(Default.backoff.cap) { longest =>
      if (longest > LongestDelay)
        throw options.invalid(MaxDelay, "at most 4m", "A shard iterator expires after 5 minutes.")
      longest
    }

  private def delay(options: Options): FiniteDuration = {
    val (first, longest) =
      (options.duration(Delay).getOrElse(Default.backoff.base), maxDelay(options))
    if (first > longest)
      throw OptionException.conflicting(
        s"Option ${options.named(Delay)} is $first, which is longer than " +
          s"${options.named(MaxDelay)}, $longest. Use a shorter delay, or remove the option."
      )
    first
  }
}

/** Number of calls to one shard that failed in a row, and the time of the first one. */
final case class FailureStreak(failures: Int, since: Instant) {
  def next: FailureStreak = copy(failures = failures + 1)
}
