package sparkkinesis.source.plan

import sparkkinesis.source.protocol.FetchCounters

/**
 * Sums of the counters of all executors since the query run began, including lost executors.
 *
 * @param ended sum of fetch services that were replaced by another one on the same executor
 * @param last counters of each executor, including lost ones, which may return and count on
 */
private[source] final case class FetchTotals(
    ended: FetchCounters,
    last: Map[String, FetchCounters]
) {

  /** Counters that became smaller belong to a new service on the executor. */
  def updated(executor: String, counters: FetchCounters): FetchTotals = {
    val before = last.getOrElse(executor, FetchCounters.Zero)
    FetchTotals(
      if (counters.isBehind(before)) ended + before else ended,
      last.updated(executor, counters)
    )
  }

  def sum: FetchCounters = last.valuesIterator.foldLeft(ended)(_ + _)
}

private[source] object FetchTotals {
  val Zero: FetchTotals = FetchTotals(FetchCounters.Zero, Map.empty)
}
