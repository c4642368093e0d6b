package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

/** Calls to one shard that failed in a row. */
private[source] final case class FailureStreak(failures: Int, since: Instant) {
  def again: FailureStreak = copy(failures = failures + 1)

  /** Longer, in time and in attempts, than a query should wait without a word. */
  def isTooLong(now: Instant): Boolean =
    failures > FailureStreak.PatientAttempts && now.isAfter(
      since.plusMillis(FailureStreak.Patience.toMillis)
    )
}

private[source] object FailureStreak {
  private val Patience = 5.minutes
  private val PatientAttempts = 20
}
