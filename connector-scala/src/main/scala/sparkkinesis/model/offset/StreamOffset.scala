package sparkkinesis.model.offset

import java.time.Instant

import scala.collection.immutable.SortedMap

import sparkkinesis.model.{ShardId, StreamArn}

/**
 * How far one shard is, and which shards must be finished before it may be read.
 *
 * @param waitsFor parents not finished yet, of which some may not be in the offset yet; a shard that
 *   waits has read nothing
 * @param completeAsOf whatever arrived in this shard before that time has been read; none where
 *   nothing is owed yet, as at the trim horizon of a new query
 */
final case class ShardProgress(
    progress: Progress,
    waitsFor: Set[ShardId],
    completeAsOf: Option[Instant] = None
)

/**
 * How far a whole stream has been read.
 *
 * Each finished shard stays for one offset, so that "finished in an earlier batch" can be seen, and is
 * dropped in the next; its children are in the offset by then.
 *
 * @param created of the stream; another stream under the same name has another
 */
final case class StreamOffset(
    stream: StreamArn,
    created: Instant,
    shards: SortedMap[ShardId, ShardProgress]
) {

  /** Without the shards finished in it, and without waiting for them. */
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

  /** The shards a batch that starts here may read: every parent was finished before. */
  lazy val readable: SortedMap[ShardId, Progress] =
    settled.shards.collect { case (id, shard) if shard.waitsFor.isEmpty => id -> shard.progress }
}
