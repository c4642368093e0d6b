package sparkkinesis.spark.metrics

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.sink.metrics.HotShard

/**
 * Warns of hot shards, once per stream and some minutes: each batch of `foreachBatch` is a write of
 * its own. Thread-safe.
 */
private[metrics] final class HotShardLog(clock: Clock) {
  import HotShardLog._

  private var warnedAt = Map.empty[String, Long]

  def warn(hot: HotShard): Unit = synchronized {
    val now = clock.elapsedMillis
    warnedAt = warnedAt.filter { case (_, at) => now - at < Pause.toMillis }
    if (!warnedAt.contains(hot.traffic.stream)) {
      warnedAt += hot.traffic.stream -> now
      log.warn(hot.message)
    }
  }
}

private[metrics] object HotShardLog {
  private val log = LoggerFactory.getLogger(classOf[HotShardLog])
  private val Pause = 10.minutes

  /** The log of all writes of this driver. */
  val shared: HotShardLog = new HotShardLog(SystemClock)
}
