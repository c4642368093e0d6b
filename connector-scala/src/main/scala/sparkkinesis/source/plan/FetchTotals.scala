package sparkkinesis.source.plan

import scala.concurrent.duration._

import sparkkinesis.source.protocol.FetchCounters

/**
 * Sums of the counters of all executors since the query run began, including lost executors.
 *
 * @param last counters of each executor, including lost ones, which may return and count on
 */
private[source] final case class FetchTotals(
    sum: FetchCounters,
    last: Map[String, FetchCounters]
) {

  /** Counters that became smaller belong to a new service on the executor. */
  def updated(executor: String, counters: FetchCounters): FetchTotals = {
    val before = last.getOrElse(executor, FetchCounters.Zero)
    val counted = if (counters.isBehind(before)) FetchCounters.Zero else before
    FetchTotals(sum + counters - counted, last.updated(executor, counters))
  }
}

private[source] object FetchTotals {
  val Zero: FetchTotals = FetchTotals(FetchCounters.Zero, Map.empty)
}

/**
 * What executors fetched in the last one to two minutes, or since the query began if that is less,
 * or since it was asked last if that is more. A value.
 *
 * @param older totals from which the differences are taken
 * @param newer later totals, which replace `older` after a minute
 */
private[source] final case class RecentFetches(
    older: FetchCounters,
    newer: FetchCounters,
    newerAt: Option[FiniteDuration]
) {
  import RecentFetches._

  /** @param now by a clock that never jumps */
  def at(totals: FetchCounters, now: FiniteDuration): RecentFetches = newerAt match {
    case Some(at) if now - at < Period => this
    case Some(_) => RecentFetches(newer, totals, Some(now))
    case None => copy(newer = totals, newerAt = Some(now))
  }

  def of(totals: FetchCounters): FetchCounters = totals - older
}

private[source] object RecentFetches {
  private val Period = 1.minute
  val Empty: RecentFetches = RecentFetches(FetchCounters.Zero, FetchCounters.Zero, None)
}
