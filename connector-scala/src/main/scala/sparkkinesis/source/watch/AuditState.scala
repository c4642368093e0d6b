package sparkkinesis.source.watch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.compat._

/**
 * What the inspections of a stream have shown so far. A value.
 *
 * @param findings what each conclusive inspection from `since` to `until` has found
 * @param inconclusive number of inconclusive inspections in a row
 * @param failures number of failed inspections in a row
 * @param isInitial whether there was no inspection yet
 */
private[source] final case class AuditState(
    findings: AuditFindings,
    since: Instant,
    until: Instant,
    inconclusive: Int = 0,
    failures: Int = 0,
    isInitial: Boolean = false
) {
  import AuditState._

  def conclusive(found: AuditFindings, now: Instant): AuditState = {
    val again = found.intersect(findings)
    if (again.isEmpty) AuditState(found, now, now) else AuditState(again, since, now)
  }

  def unclear: AuditState = NoFindings.copy(inconclusive = inconclusive + 1)

  /**
   * Drops the findings after several failures, so that a run that is about to end does not wait
   * forever. A later inspection finds them again.
   */
  def failed: AuditState = copy(
    if (failures < Patience) findings else AuditFindings.None,
    failures = failures + 1,
    isInitial = false
  )

  /** Whether a repeated inspection may soon be conclusive. */
  def isRepeatedSoon: Boolean = failures == 0 && inconclusive > 0 && inconclusive < Patience

  /**
   * Whether a run may end: nothing is suspected, and inspecting again would not change that soon.
   */
  def isSettled: Boolean = !isInitial && findings.isEmpty && !isRepeatedSoon

  /**
   * The findings if two listings, an interval apart, agree. One listing may be wrong, and two do
   * not err in the same way.
   */
  def confirmed(interval: FiniteDuration): Option[AuditFindings] = {
    val least = interval * 9 / 10 // inspections have jitter
    Option.when(!findings.isEmpty && !until.isBefore(since.plusMillis(least.toMillis)))(findings)
  }
}

private[source] object AuditState {
  private val NoFindings = AuditState(AuditFindings.None, Instant.EPOCH, Instant.EPOCH)

  val Initial: AuditState = NoFindings.copy(isInitial = true)

  /** Number of inconclusive or failed inspections after which nothing waits for the next one. */
  private val Patience = 3
}
