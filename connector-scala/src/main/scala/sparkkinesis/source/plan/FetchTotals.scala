package sparkkinesis.source.plan

import sparkkinesis.source.protocol.FetchCounters

/**
 * What all the executors of a query run have counted: one that is lost takes nothing with it.
 *
 * @param ended of services that came before another one on the same executor
 * @param last word of each executor, gone or not: one that was only silent goes on counting
 */
private[source] final case class FetchTotals(
    ended: FetchCounters,
    last: Map[String, FetchCounters]
) {

  /** A service that counts from zero again is another one. */
  def heard(executor: String, counters: FetchCounters): FetchTotals = {
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
