package sparkkinesis.source.fetch

import java.time.Instant

import org.slf4j.LoggerFactory

import sparkkinesis.client.Moment
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.{DataLoss, DataLossException, StreamClient}

/**
 * Detects that records of a shard expired before they were read. With `failOnDataLoss` its methods
 * return the loss; without, they log and count it. Used by one thread at a time.
 */
private[source] final class ShardLosses(
    stream: StreamClient,
    shard: StreamShard,
    failOnDataLoss: Boolean
) {
  private val log = LoggerFactory.getLogger(classOf[ShardLosses])
  private val retention = new RetentionCheck(stream)
  private var isBehind = false
  private var wasGone = false
  private var count = 0

  /**
   * Whether the reader is behind the retention period. A tolerated loss counts once until the
   * reader has caught up.
   *
   * @param completeAsOf all records that arrived before are read
   * @param at with the service's time
   * @throws sparkkinesis.client.KinesisException if this cannot be decided at present
   */
  def behindRetention(
      progress: Progress,
      completeAsOf: Option[Instant],
      at: Moment
  ): Option[DataLossException] = {
    val wasBehind = isBehind
    isBehind = completeAsOf.exists(retention.hasPassed(_, at))
    if (isBehind && (failOnDataLoss || !wasBehind))
      lose("it was not read for longer than the retention period", progress, completeAsOf, at)
    else None
  }

  /** Whether the shard was already gone at the last look: one answer may be wrong. */
  def isGoneAgain(): Boolean = {
    val again = wasGone
    wasGone = true
    again
  }

  /** The shard exists. */
  def found(): Unit = wasGone = false

  def shardGone(
      progress: Progress,
      completeAsOf: Option[Instant],
      at: Moment
  ): Option[DataLossException] =
    lose("the shard does not exist any more", progress, completeAsOf, at)

  /** Number of losses since the last call. */
  def takeCount(): Int = {
    val taken = count
    count = 0
    taken
  }

  private def lose(
      reason: String,
      progress: Progress,
      completeAsOf: Option[Instant],
      at: Moment
  ): Option[DataLossException] = {
    val range = ShardRange(shard, progress, Progress.Finished, completeAsOf)
    val extent = retention.extent(completeAsOf, at)
    val loss = new DataLossException(stream.ref, range, s"$reason ($extent)")
    if (failOnDataLoss) Some(loss)
    else {
      count += 1
      log.warn(DataLoss.tolerated(loss.getMessage))
      None
    }
  }
}
