package sparkkinesis.source.plan

import java.time.Instant

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.protocol.Frontier

/** Since when each shard has had records that the query has not processed, at the earliest. */
private[sparkkinesis] object UnreadSince {

  /**
   * @param processed how far batches have processed each shard
   * @param frontiers how far executors have read on
   * @return by the service's time; without shards of which nothing is known, as of a new query
   */
  def of(
      processed: SourceOffset,
      frontiers: Map[StreamShard, Frontier]
  ): Map[StreamShard, Instant] = {
    val all = for {
      (arn, offset) <- processed.settled.streams.iterator
      (id, progress) <- offset.shards.iterator
      shard = StreamShard(arn, id)
      since <- (progress.completeAsOf ++ empty(frontiers.get(shard))).maxOption
    } yield shard -> since
    all.toMap
  }

  /** The time up to which a shard was found to have no more records. */
  private def empty(frontier: Option[Frontier]): Option[Instant] =
    frontier
      .filter(it => it.marks.isEmpty && it.completeAsOfMillis > 0)
      .map(it => Instant.ofEpochMilli(it.completeAsOfMillis))
}
