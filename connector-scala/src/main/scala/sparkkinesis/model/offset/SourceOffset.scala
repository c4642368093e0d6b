package sparkkinesis.model.offset

import scala.collection.immutable.SortedMap

import sparkkinesis.compat._
import sparkkinesis.model.{StreamArn, StreamShard}

/** How far each stream of a source has been read. Spark logs it before each batch. */
private[sparkkinesis] final case class SourceOffset(streams: SortedMap[StreamArn, StreamOffset]) {

  /** See [[StreamOffset.settled]]. */
  lazy val settled: SourceOffset = transform((_, offset) => offset.settled)

  /** Applies `change` to the offset of each stream. Returns this object if nothing changed. */
  def transform(change: (StreamArn, StreamOffset) => StreamOffset): SourceOffset = {
    val all = streams.transform(change)
    if (all.forall { case (arn, offset) => offset eq streams(arn) }) this else SourceOffset(all)
  }

  /**
   * The shards that a batch from this offset may read: every parent was finished in earlier
   * batches.
   */
  lazy val readable: Map[StreamShard, Progress] = {
    val all = for {
      (arn, offset) <- streams.iterator
      (id, progress) <- offset.readable.iterator
    } yield StreamShard(arn, id) -> progress
    all.toMap
  }

  /** The progress of each shard. */
  def progress: Map[StreamShard, Progress] = {
    val all = for {
      (arn, offset) <- streams.iterator
      (id, shard) <- offset.shards.iterator
    } yield StreamShard(arn, id) -> shard.progress
    all.toMap
  }

  /** `None` if the offset does not contain the shard. */
  def shard(shard: StreamShard): Option[ShardProgress] =
    streams.get(shard.stream).flatMap(_.shards.get(shard.shard))
}

private[sparkkinesis] object SourceOffset {
  def of(streams: Iterable[StreamOffset]): SourceOffset =
    SourceOffset(SortedMap.from(streams.map(offset => offset.stream -> offset)))
}
