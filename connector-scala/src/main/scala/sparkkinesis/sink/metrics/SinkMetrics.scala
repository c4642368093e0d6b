package sparkkinesis.sink.metrics

import sparkkinesis.model.ServiceLimits
import sparkkinesis.shard.Durations
import sparkkinesis.sink.metrics.SinkCounter._

/**
 * What a writer, or several of them, counted so far.
 *
 * @param counts one value per counter, in the order of [[SinkCounter.all]]
 * @param shards that were written to: those with the largest loads, see [[ShardTraffic.sum]]
 * @param requestTimes of requests that were answered or failed
 */
private[sparkkinesis] final case class SinkMetrics(
    counts: Vector[Long],
    shards: Vector[ShardTraffic],
    requestTimes: Durations
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
  lazy val requestMillis99: Long = requestTimes.p99.getOrElse(0L)

  /** The metrics of two writers together: sums of counts, the larger one of peaks and sleeps. */
  def +(other: SinkMetrics): SinkMetrics = SinkMetrics(
    SinkCounter.all.map(it => it.merge(apply(it), other(it))),
    ShardTraffic.sum(shards ++ other.shards),
    requestTimes + other.requestTimes
  )
}

private[sparkkinesis] object SinkMetrics {
  val Zero: SinkMetrics =
    SinkMetrics(SinkCounter.all.map(_ => 0L), Vector.empty, Durations.Zero)
}

/**
 * What one writer, or several of them, did with one shard. A record counts for the shard that its
 * hash key belongs to, as far as the writer knows.
 *
 * @param stream its name or ARN, as the options or the row name it
 * @param shards number of open shards of the stream; 0 if the service chooses the shards
 * @param records Kinesis records that it acknowledged
 * @param bytes size of those, with their keys
 * @param sleepMillis how long the records of one writer were ready to be sent while the shard could
 *   not take them
 * @param writeMillis how long that writer had lanes of the stream
 */
private[sparkkinesis] final case class ShardTraffic(
    stream: String,
    shard: String,
    shards: Int,
    records: Long,
    bytes: Long,
    sleepMillis: Long,
    writeMillis: Long
) {

  /** The part of the shard's quota that the records took. */
  def load: Long = ShardTraffic.load(records, bytes)

  /** The traffic of one shard that two writers have written. */
  def +(other: ShardTraffic): ShardTraffic = ShardTraffic(
    stream,
    shard,
    math.max(shards, other.shards),
    records + other.records,
    bytes + other.bytes,
    math.max(sleepMillis, other.sleepMillis),
    if (other.sleepMillis > sleepMillis) other.writeMillis else writeMillis
  )
}

private[sparkkinesis] object ShardTraffic {

  /** A task reports so many shards, because a stream may have thousands. */
  private val MostShards = 16

  def load(records: Long, bytes: Long): Long =
    math.max(
      bytes * ServiceLimits.WriteRecordsPerSecond,
      records * ServiceLimits.WriteBytesPerSecond
    )

  /**
   * The traffic of several writers, one entry per shard: the shards with the largest loads, and the
   * one that was waited for longest.
   */
  def sum(all: Iterable[ShardTraffic]): Vector[ShardTraffic] = {
    val used = all.filter(it => it.records > 0 || it.sleepMillis > 0)
    val shards = used.groupBy(it => (it.stream, it.shard)).values.map(_.reduce(_ + _))
    val byLoad = shards.toVector.sortBy(it => (-it.load, it.stream, it.shard))
    val (most, others) = byLoad.splitAt(MostShards)
    most ++ longestSleep(others)
  }

  def longestSleep(all: Iterable[ShardTraffic]): Option[ShardTraffic] =
    all
      .filter(_.sleepMillis > 0)
      .reduceOption((a, b) => if (b.sleepMillis > a.sleepMillis) b else a)
}

/**
 * The shard that limits a write while the other shards of its stream idle.
 *
 * @param share its part of all that was written
 */
private[sparkkinesis] final case class HotShard(traffic: ShardTraffic, share: Double) {

  /** The message for a log: what happened and what to do. */
  def message: String = {
    val seconds = traffic.sleepMillis / 1000
    s"Shard ${traffic.shard} of stream ${traffic.stream} limits the write: a task waited " +
      f"$seconds s for it, and it received ${share * 100}%.0f %% of what was written to " +
      s"${traffic.shards} shards. " +
      "If most of its rows have one key, divide that key, or drop the column 'partitionKey' if " +
      "order does not matter. Otherwise split the shard."
  }
}

private[sparkkinesis] object HotShard {

  /**
   * The wait for a shard counts from so many milliseconds on, and if a task waits half its time.
   */
  private val LongSleep = 5000L

  def of(metrics: SinkMetrics): Option[HotShard] = metrics.hottestShard
    .filter { hot =>
      val share = metrics.shareOf(hot)
      val others = (1 - share) / math.max(1, hot.shards - 1)
      hot.shards > 0 && others <= share / 2 &&
      hot.sleepMillis >= math.max(LongSleep, hot.writeMillis / 2)
    }
    .map(hot => HotShard(hot, metrics.shareOf(hot)))
}
