package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

/** Number of calls to one shard that failed in a row, and the time of the first one. */
private[source] final case class FailureStreak(failures: Int, since: Instant) {
  def next: FailureStreak = copy(failures = failures + 1)

  /** Whether it is too long, in time and in calls, to keep the user waiting for an error. */
  def isTooLong(now: Instant): Boolean =
    failures > FailureStreak.MaxFailures &&
      now.isAfter(since.plusMillis(FailureStreak.MaxTime.toMillis))
}

private[source] object FailureStreak {
  private val MaxTime = 5.minutes
  private val MaxFailures = 20
}
