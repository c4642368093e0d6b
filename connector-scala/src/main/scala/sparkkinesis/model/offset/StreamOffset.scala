package sparkkinesis.model.offset

import java.time.Instant

import scala.collection.immutable.SortedMap

import sparkkinesis.model.{ShardId, StreamArn}

/**
 * How far one shard has been read, and the shards that must be finished before.
 *
 * @param waitsFor unfinished parents; some may not be in the offset yet. Nothing of the shard
 *   has been read while it waits
 * @param completeAsOf all records that arrived before this time have been read; `None` if the
 *   query need not read any record yet, such as at the trim horizon of a new query
 */
final case class ShardProgress(
    progress: Progress,
    waitsFor: Set[ShardId],
    completeAsOf: Option[Instant] = None
)

/**
 * How far a whole stream has been read.
 *
 * A finished shard stays in one offset, which shows that it was finished in an earlier batch. The
 * next offset does not contain it. By then the offset contains its children.
 *
 * @param created creation time of the stream, which identifies it among streams with the same name
 */
final case class StreamOffset(
    stream: StreamArn,
    created: Instant,
    shards: SortedMap[ShardId, ShardProgress]
) {

  /** This offset without the shards that are finished in it, and without waiting for them. */
  lazy val settled: StreamOffset = {
    val finished = shards.collect {
      case (id, shard) if shard.progress == Progress.Finished => id
    }.toSet
    if (finished.isEmpty) this
    else
      copy(shards = shards.filterNot { case (id, _) => finished(id) }.map { case (id, shard) =>
        id -> shard.copy(waitsFor = shard.waitsFor.diff(finished))
      })
  }

  /**
   * The shards that a batch from this offset may read: every parent was finished in earlier
   * batches.
   */
  lazy val readable: SortedMap[ShardId, Progress] =
    settled.shards.collect { case (id, shard) if shard.waitsFor.isEmpty => id -> shard.progress }
}
