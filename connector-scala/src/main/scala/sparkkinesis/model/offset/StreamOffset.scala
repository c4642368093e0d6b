package sparkkinesis.model.offset

import java.time.Instant

import scala.collection.immutable.SortedMap

import sparkkinesis.model.{SequenceNumber, ShardId, StreamArn}

/**
 * How far a query has read one shard, and which shards it must finish first.
 *
 * @param waitsFor parents that are not finished; the offset may lack some of them. A shard that
 *   waits has not been read.
 * @param completeAsOf the query has read every record that arrived in this shard before this time.
 *   If the retention period has passed since then, unread records may have expired. `None` if no
 *   record could be missing yet, as at the trim horizon of a new query.
 * @param first the first record that the batch before this offset read of the shard, if that was
 *   the shard's first batch. Its start had no sequence number, so only this record identifies it.
 */
private[sparkkinesis] final case class ShardProgress(
    progress: Progress,
    waitsFor: Set[ShardId],
    completeAsOf: Option[Instant] = None,
    first: Option[SequenceNumber] = None
)

/**
 * How far a whole stream has been read.
 *
 * A finished shard stays in one offset, which shows that it was finished in an earlier batch. The
 * next offset does not contain it. By then the offset contains its children.
 *
 * @param created creation time of the stream, which identifies it among streams with the same name
 */
private[sparkkinesis] final case class StreamOffset(
    stream: StreamArn,
    created: Instant,
    shards: SortedMap[ShardId, ShardProgress]
) {

  /**
   * This offset without what only the batch before it needs: the shards that are finished in it,
   * the waiting for them, and the first records of that batch.
   */
  lazy val settled: StreamOffset = {
    val finished = shards.collect {
      case (id, shard) if shard.progress == Progress.Finished => id
    }.toSet
    if (finished.isEmpty && shards.values.forall(_.first.isEmpty)) this
    else
      copy(shards = shards.filterNot { case (id, _) => finished(id) }.map { case (id, shard) =>
        id -> shard.copy(waitsFor = shard.waitsFor.diff(finished), first = None)
      })
  }

  /**
   * The shards that a batch from this offset may read: every parent was finished in earlier
   * batches.
   */
  lazy val readable: SortedMap[ShardId, Progress] =
    settled.shards.collect { case (id, shard) if shard.waitsFor.isEmpty => id -> shard.progress }
}
