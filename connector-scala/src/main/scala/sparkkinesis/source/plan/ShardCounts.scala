package sparkkinesis.source.plan

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.source.protocol.Frontier

/**
 * Numbers of a query's shards.
 *
 * @param open shards that the next batches read and that are not known to have ended
 * @param closed shards that batches have read to the end since the query run began
 * @param waiting shards with a parent that has not been read to the end
 * @param reading shards from which an executor has read at least one page
 */
private[sparkkinesis] final case class ShardCounts(
    open: Long,
    closed: Long,
    waiting: Long,
    reading: Long
)

private[sparkkinesis] object ShardCounts {
  val Zero: ShardCounts = ShardCounts(0, 0, 0, 0)

  /**
   * @param planned up to which batches are planned
   * @param frontiers how far executors have read on
   * @param closed shards that were read to the end before
   */
  private[source] def of(
      planned: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      closed: Long
  ): ShardCounts = {
    val ended = frontiers.count { case (_, frontier) => frontier.isFinished }
    val unfinished = planned.settled.streams.valuesIterator.map(_.shards.size).sum
    ShardCounts(
      open = (planned.readable.size - ended).toLong,
      closed = closed,
      waiting = (unfinished - planned.readable.size).toLong,
      reading = frontiers.size.toLong
    )
  }

  /** Number of shards that were read to the end between two offsets. */
  private[source] def closedBetween(before: SourceOffset, end: SourceOffset): Int =
    end.streams.map { case (arn, offset) =>
      offset.shards.count { case (id, shard) =>
        shard.progress == Progress.Finished &&
        before.shard(StreamShard(arn, id)).exists(_.progress != Progress.Finished)
      }
    }.sum
}
