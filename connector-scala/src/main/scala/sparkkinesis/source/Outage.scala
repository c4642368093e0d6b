package sparkkinesis.source

import java.time.Instant

import scala.concurrent.duration._

/** Calls to one shard that failed in a row. */
private[source] final case class Outage(failures: Int, since: Instant) {
  def again: Outage = copy(failures = failures + 1)

  /** Longer, in time and in attempts, than a query should wait without a word. */
  def isTooLong(now: Instant): Boolean =
    failures > Outage.PatientAttempts && now.isAfter(since.plusMillis(Outage.Patience.toMillis))
}

private[source] object Outage {
  private val Patience = 5.minutes
  private val PatientAttempts = 20
}
