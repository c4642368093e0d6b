package sparkkinesis.sink.metrics

import sparkkinesis.sink.metrics.SinkCounter._

/**
 * The shard that limits a write while the other shards of its stream idle.
 *
 * @param share its part of all that was written
 */
final case class HotShard(traffic: ShardTraffic, share: Double, cause: HotShard.Cause) {

  /** The message for a log: what happened and what to do. */
  def message: String = {
    val seconds = traffic.sleepMillis / 1000
    s"Shard ${traffic.shard} of stream ${traffic.stream} limits the write: a task waited " +
      f"$seconds s for it, and it received ${share * 100}%.0f %% of what was written to " +
      s"${traffic.shards} shards. " +
      cause.remedy
  }
}

object HotShard {
  sealed abstract class Cause(val remedy: String)

  case object ConstantKey
      extends Cause(
        "All rows have the same partition key or explicit hash key. More shards do not help: " +
          "give rows different keys, or drop the column 'partitionKey' if order does not matter."
      )

  case object HotKey
      extends Cause(
        "Most of its rows have one partition key or explicit hash key. More shards do not help: " +
          "divide this key, for example by a suffix."
      )

  case object TooFewShards
      extends Cause("Its rows have many keys: split the shard, or add shards to the stream.")

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
    .map(hot => HotShard(hot, metrics.shareOf(hot), causeOf(hot, metrics)))

  private def causeOf(hot: ShardTraffic, metrics: SinkMetrics): Cause =
    if (hot.votes.isOneKey && hot.records == metrics(KinesisRecordsWritten)) ConstantKey
    else if (hot.votes.isMostlyOneKey) HotKey
    else TooFewShards
}
