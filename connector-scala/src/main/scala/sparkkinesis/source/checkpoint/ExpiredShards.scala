package sparkkinesis.source.checkpoint

import java.time.Instant

import org.slf4j.LoggerFactory

import sparkkinesis.compat._
import sparkkinesis.model.ShardId
import sparkkinesis.model.offset.{ShardProgress, StreamOffset}
import sparkkinesis.shard.{DataLoss, SourceException}

/** The shards of a checkpoint from which records may have expired before the query read them. */
private[sparkkinesis] final class ExpiredShards(stream: DescribedStream, failOnDataLoss: Boolean) {
  private val log = LoggerFactory.getLogger(classOf[ExpiredShards])
  private var reported = Map.empty[ShardId, Instant] // their `completeAsOf`

  /**
   * Compares each shard's `completeAsOf` with the retention period.
   *
   * @param now by the clock of this machine
   * @throws SourceException if records may have expired, unless `failOnDataLoss` is `false`
   */
  def check(offset: StreamOffset, now: Instant): Unit = {
    def text(id: ShardId, shard: ShardProgress): String =
      s"Records of $id of stream ${stream.arn} after ${shard.progress} may have expired before " +
        "the query read them: " +
        stream.extentOfLoss(shard.completeAsOf, now)
    val expired = for {
      (id, shard) <- offset.settled.shards.toSeq // of a finished shard nothing is owed
      complete <- shard.completeAsOf if stream.mayHaveExpired(complete, now)
    } yield (complete, id, shard)
    if (failOnDataLoss)
      expired.minByOption { case (complete, id, _) => (complete, id) }.foreach {
        case (_, id, shard) =>
          throw new SourceException(
            "KINESIS_DATA_LOSS",
            s"${text(id, shard)}.${DataLoss.others(expired.size)} To continue with the records " +
              "that are left, set 'failOnDataLoss' to 'false'."
          )
      }
    else
      expired.foreach { case (_, id, shard) =>
        log.warn(DataLoss.tolerated(s"${text(id, shard)}."))
      }
    reported = expired.map { case (complete, id, _) => id -> complete }.toMap
  }

  /** Number of shards reported by the last check. */
  def count: Long = reported.size.toLong

  /** The offset without the `completeAsOf` of reported shards: nobody reports a loss twice. */
  def withoutReported(offset: StreamOffset): StreamOffset = {
    def isReported(id: ShardId, shard: ShardProgress) =
      shard.completeAsOf.exists(reported.get(id).contains)
    if (reported.isEmpty || !offset.shards.exists { case (id, shard) => isReported(id, shard) })
      offset
    else
      offset.copy(shards = offset.shards.transform { (id, shard) =>
        if (isReported(id, shard)) shard.copy(completeAsOf = None) else shard
      })
  }
}
