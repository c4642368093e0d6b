package sparkkinesis.source.feed

import java.time.Instant

import org.slf4j.LoggerFactory

import sparkkinesis.client.Moment
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.{DataLoss, DataLossException, StreamClient}

/**
 * The records of a shard that expired before they were read. With `failOnDataLoss` its methods
 * return the loss; without, they log and count it. Used by one thread at a time.
 */
private[feed] final class ReadLosses(stream: StreamClient, failOnDataLoss: Boolean) {
  private val log = LoggerFactory.getLogger(classOf[ReadLosses])
  private val retention = new RetentionCheck(stream)
  private var isBehind = false
  private var count = 0

  /**
   * Whether the reader is behind the retention period. A tolerated loss counts once until the
   * reader has caught up.
   *
   * @param rest what is still to be read
   * @param completeAsOf all records that arrived before are read
   * @param at with the service's time
   * @throws sparkkinesis.client.KinesisException if this cannot be decided at present
   */
  def behindRetention(
      rest: ShardRange,
      completeAsOf: Option[Instant],
      at: Moment
  ): Option[DataLossException] = {
    val wasBehind = isBehind
    isBehind = completeAsOf.exists(retention.hasPassed(_, at))
    if (isBehind && (failOnDataLoss || !wasBehind))
      lose("it was not read for longer than the retention period", rest, completeAsOf, at)
    else None
  }

  /** Records of the rest are missing, whatever the clock says. */
  def lose(
      reason: String,
      rest: ShardRange,
      completeAsOf: Option[Instant],
      at: Moment
  ): Option[DataLossException] = {
    val extent = retention.extent(completeAsOf, at)
    val loss = new DataLossException(stream.ref, rest, s"$reason ($extent)")
    if (failOnDataLoss) Some(loss)
    else {
      count += 1
      log.warn(DataLoss.tolerated(loss.getMessage))
      None
    }
  }

  /** Number of losses since the last call. */
  def takeCount(): Int = {
    val taken = count
    count = 0
    taken
  }
}
