package sparkkinesis.source.watch

import java.time.Instant

import scala.concurrent.duration._

/**
 * What the looks at a stream have found so far: only what stands for an interval counts. A value.
 *
 * @param findings of every look since then
 * @param since when they were found first; none where nothing is suspected
 * @param looked when the last look was
 * @param unsettled looks in a row that allowed no judgement
 */
private[source] final case class PendingFindings(
    findings: AuditFindings,
    since: Option[Instant],
    looked: Option[Instant],
    unsettled: Int
) {
  import PendingFindings._

  /** A look that allowed a judgement: nothing, or these. */
  def judged(found: AuditFindings, now: Instant): PendingFindings = {
    val both = found.and(findings)
    if (found.isEmpty) PendingFindings(AuditFindings.None, None, Some(now), 0)
    else if (both.isEmpty) PendingFindings(found, Some(now), Some(now), 0)
    else PendingFindings(both, since, Some(now), 0)
  }

  def unjudged(now: Instant): PendingFindings =
    PendingFindings(AuditFindings.None, None, Some(now), unsettled + 1)

  /**
   * There is nothing to be learned at the moment. What is suspected is forgotten when that lasts: who
   * waits for an answer must not wait for ever, and a later look finds it again.
   *
   * @param failures in a row, this one too
   */
  def failed(now: Instant, failures: Int): PendingFindings =
    if (failures > PatientLooks) PendingFindings(AuditFindings.None, None, Some(now), PatientLooks)
    else copy(looked = Some(now), unsettled = PatientLooks)

  /** What counts by now. */
  def standing(now: Instant, interval: FiniteDuration): Option[AuditFindings] =
    since.filterNot(first => now.isBefore(first.plusMillis(interval.toMillis))).map(_ => findings)

  def isOver: Boolean =
    looked.nonEmpty && since.isEmpty && (unsettled == 0 || unsettled >= PatientLooks)

  /** Whether one who waits for it should look again. */
  def isDue(now: Instant, interval: FiniteDuration): Boolean = looked.forall { last =>
    val pause = if (since.isEmpty) interval.min(Soon) else interval
    !isOver && !now.isBefore(last.plusMillis(pause.toMillis))
  }
}

private[source] object PendingFindings {
  val Nothing: PendingFindings = PendingFindings(AuditFindings.None, None, None, 0)
  private val PatientLooks = 3
  private val Soon = 1.second
}
