package sparkkinesis.sink.metrics

import org.HdrHistogram.Histogram

import sparkkinesis.sink.metrics.SinkCounter._

/**
 * What a writer, or several of them, counted so far.
 *
 * @param counts one value per counter, in the order of [[SinkCounter.all]]
 * @param shards that were written to: those with the largest loads, see [[ShardTraffic.sum]]
 * @param requestTimes milliseconds of requests that were answered or failed. Must not be changed
 */
final case class SinkMetrics(
    counts: Vector[Long],
    shards: Vector[ShardTraffic],
    requestTimes: Histogram
) {
  def apply(counter: SinkCounter): Long = counts(counter.index)

  /** Mean number of Kinesis records per request; 0 before the first request. */
  def recordsPerRequest: Double = {
    val requests = apply(Requests)
    if (requests == 0) 0 else apply(SentRecords).toDouble / requests
  }

  /** The shard that records waited for longest; none if no record waited. */
  def longestSleep: Option[ShardTraffic] = ShardTraffic.longestSleep(shards)

  /** Milliseconds that records waited for that shard. */
  def sleepMillis: Long = longestSleep.fold(0L)(_.sleepMillis)

  /** The shard that used most of its quota; none before the first record was acknowledged. */
  def hottestShard: Option[ShardTraffic] = shards.headOption.filter(_.records > 0)

  /**
   * The shard's part of all that was written, in records or bytes, whichever took more of the
   * quota.
   */
  def shareOf(shard: ShardTraffic): Double =
    shard.load.toDouble / ShardTraffic.load(
      apply(KinesisRecordsWritten),
      apply(KinesisBytesWritten)
    )

  /** Milliseconds within which 99 % of all requests ended; 0 before the first. */
  lazy val requestMillis99: Long = requestTimes.getValueAtPercentile(99)

  /** The metrics of two writers together: sums of counts, the larger one of peaks and sleeps. */
  def +(other: SinkMetrics): SinkMetrics = SinkMetrics(
    SinkCounter.all.map(it => it.merge(apply(it), other(it))),
    ShardTraffic.sum(shards ++ other.shards),
    RequestTimes.sum(requestTimes, other.requestTimes)
  )
}

object SinkMetrics {
  val Zero: SinkMetrics =
    SinkMetrics(SinkCounter.all.map(_ => 0L), Vector.empty, RequestTimes.empty)
}
