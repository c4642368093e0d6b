package sparkkinesis.source.watch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.compat._
import sparkkinesis.model.{StreamArn, StreamShard}
import sparkkinesis.shard.DataLoss

/**
 * When records of a shard expire unless the query processes them.
 *
 * @param lag the largest possible age of the oldest record that was not processed
 */
private[sparkkinesis] final case class Expiry(
    shard: StreamShard,
    lag: FiniteDuration,
    retention: FiniteDuration
) {

  /** Zero if records may have expired already. */
  def left: FiniteDuration = (retention - lag).max(Duration.Zero)

  /** Whether an operator should know: less than a quarter of the retention period is left. */
  def isNear: Boolean = left < retention / 4

  def warning: String =
    s"Records in $shard expire in ${DataLoss.text(left)} unless the query processes them: it may " +
      s"be ${DataLoss.text(lag)} behind, and the stream retains records for " +
      s"${DataLoss.text(retention)}. Increase the retention period of the stream now. Then find " +
      "out why the query is slow: see the metrics of its progress."
}

private[sparkkinesis] object Expiry {

  /**
   * The shard whose records expire first.
   *
   * @param unread since when each shard has had records that were not processed
   * @param streams retention period and time of the service of each stream, as far as they are
   *   known
   */
  def soonest(
      unread: Map[StreamShard, Instant],
      streams: Map[StreamArn, (FiniteDuration, Instant)]
  ): Option[Expiry] = {
    val all = for {
      (shard, since) <- unread
      (retention, now) <- streams.get(shard.stream)
    } yield Expiry(
      shard,
      (now.toEpochMilli - since.toEpochMilli).max(0).millis,
      retention
    )
    all.minByOption(it => (it.retention - it.lag, it.shard))
  }
}
