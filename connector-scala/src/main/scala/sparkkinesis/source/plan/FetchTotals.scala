package sparkkinesis.source.plan

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
