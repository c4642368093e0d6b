package sparkkinesis.sink.metrics

/**
 * The shard that limits a write while the other shards of its stream idle.
 *
 * @param share its part of all that was written
 */
final case class HotShard(traffic: ShardTraffic, share: Double) {

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

object HotShard {

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
