package sparkkinesis.source.watch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.compat._

/**
 * Findings that several inspections agree on.
 *
 * @param findings what each inspection from `since` to `until` has found
 */
private[source] final case class PendingFindings(
    findings: AuditFindings,
    since: Instant,
    until: Instant
) {

  /**
   * Whether two listings, an interval apart, agree. One listing may be wrong, and two do not err in
   * the same way.
   */
  def isConfirmed(interval: FiniteDuration): Boolean =
    !until.isBefore(since.plusMillis((interval * 9 / 10).toMillis)) // inspections have jitter

  /** `None` if the new inspection finds nothing of this again. */
  def and(found: AuditFindings, now: Instant): Option[PendingFindings] = {
    val both = found.intersect(findings)
    Option.when(!both.isEmpty)(PendingFindings(both, since, now))
  }
}

/**
 * What the inspections of a stream have shown so far. A value.
 *
 * @param pending findings of the last conclusive inspection
 * @param inconclusive number of inconclusive inspections in a row
 * @param failures number of failed inspections in a row
 * @param isInitial whether there was no inspection yet
 */
private[source] final case class AuditState(
    pending: Option[PendingFindings],
    inconclusive: Int,
    failures: Int,
    isInitial: Boolean = false
) {
  import AuditState._

  def conclusive(found: AuditFindings, now: Instant): AuditState = {
    val first = Option.when(!found.isEmpty)(PendingFindings(found, now, now))
    AuditState(pending.flatMap(_.and(found, now)).orElse(first), 0, 0)
  }

  def unclear: AuditState = AuditState(None, inconclusive + 1, 0)

  /**
   * Drops the findings after several failures, so that a run that is about to end does not wait
   * forever. A later inspection finds them again.
   */
  def failed: AuditState =
    AuditState(pending.filter(_ => failures < Patience), inconclusive, failures + 1)

  /** Whether a repeated inspection may soon be conclusive. */
  def isRepeatedSoon: Boolean = failures == 0 && inconclusive > 0 && inconclusive < Patience

  /**
   * Whether a run may end: nothing is suspected, and inspecting again would not change that soon.
   */
  def isSettled: Boolean = !isInitial && pending.isEmpty && !isRepeatedSoon

  def confirmed(interval: FiniteDuration): Option[AuditFindings] =
    pending.filter(_.isConfirmed(interval)).map(_.findings)
}

private[source] object AuditState {
  val Initial: AuditState = AuditState(None, 0, 0, isInitial = true)

  /** Number of inconclusive or failed inspections after which nothing waits for the next one. */
  private val Patience = 3
}
