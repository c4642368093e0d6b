package sparkkinesis.source.plan

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, SourceOffset}

/**
 * How many shards a query has to do with.
 *
 * @param open read by the next batches, and not known to have ended
 * @param closed read to their end by planned batches, since the query run began
 * @param waiting for a parent that is not read to its end
 * @param reading looked at by an executor
 */
final case class ShardCounts(open: Long, closed: Long, waiting: Long, reading: Long)

object ShardCounts {
  val Zero: ShardCounts = ShardCounts(0, 0, 0, 0)

  private[source] def of(
      planned: SourceOffset,
      reading: ReadingShards,
      closed: Long
  ): ShardCounts = {
    val ended = reading.frontiers.count { case (_, frontier) => frontier.isFinished }
    val unfinished = planned.settled.streams.valuesIterator.map(_.shards.size).sum
    ShardCounts(
      open = (planned.readable.size - ended).toLong,
      closed = closed,
      waiting = (unfinished - planned.readable.size).toLong,
      reading = reading.frontiers.size.toLong
    )
  }

  /** That were read to their end between the two. */
  private[source] def closedBetween(before: SourceOffset, end: SourceOffset): Int =
    end.streams.map { case (arn, offset) =>
      offset.shards.count { case (id, shard) =>
        shard.progress == Progress.Finished &&
        before.shard(StreamShard(arn, id)).exists(_.progress != Progress.Finished)
      }
    }.sum
}
