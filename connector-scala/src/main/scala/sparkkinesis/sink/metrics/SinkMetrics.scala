package sparkkinesis.sink.metrics

import org.HdrHistogram.Histogram

/**
 * What a writer, or several of them, counted so far.
 *
 * @param counts one value per counter, in the order of [[SinkCounter.all]]
 * @param longestSleep of the shard that records waited for longest; none if no record waited
 * @param requestTimes milliseconds of requests that were answered or failed. Must not be changed
 */
final case class SinkMetrics(
    counts: Vector[Long],
    longestSleep: Option[ShardSleep],
    requestTimes: Histogram
) {
  def apply(counter: SinkCounter): Long = counts(counter.index)

  /** Mean number of Kinesis records per request; 0 before the first request. */
  def recordsPerRequest: Double = {
    val requests = apply(SinkCounter.Requests)
    if (requests == 0) 0 else apply(SinkCounter.SentRecords).toDouble / requests
  }

  /** Milliseconds that records waited for the slowest shard. */
  def sleepMillis: Long = longestSleep.fold(0L)(_.millis)

  /** Milliseconds within which 99 % of all requests ended; 0 before the first. */
  def requestMillis99: Long = requestTimes.getValueAtPercentile(99)

  /** The metrics of two writers together: sums of counts, the larger one of peaks and sleeps. */
  def +(other: SinkMetrics): SinkMetrics = SinkMetrics(
    SinkCounter.all.map(it => it.merge(apply(it), other(it))),
    ShardSleep.longest(longestSleep ++ other.longestSleep),
    RequestTimes.sum(requestTimes, other.requestTimes)
  )
}

object SinkMetrics {
  val Zero: SinkMetrics = SinkMetrics(SinkCounter.all.map(_ => 0L), None, RequestTimes.empty)
}
