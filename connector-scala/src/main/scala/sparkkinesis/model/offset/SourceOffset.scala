package sparkkinesis.model.offset

import scala.collection.immutable.SortedMap

import sparkkinesis.compat._
import sparkkinesis.model.{StreamArn, StreamShard}

/** How far each of a source's streams has been read: what Spark logs before each batch. */
final case class SourceOffset(streams: SortedMap[StreamArn, StreamOffset]) {

  /** Without the shards finished in it, and without waiting for them. */
  lazy val settled: SourceOffset = transform((_, offset) => offset.settled)

  /** Each stream's offset through `change`; this very object where none became another. */
  def transform(change: (StreamArn, StreamOffset) => StreamOffset): SourceOffset = {
    val all = streams.transform(change)
    if (all.forall { case (arn, offset) => offset eq streams(arn) }) this else SourceOffset(all)
  }

  /** The shards a batch that starts here may read: every parent was finished before. */
  lazy val readable: Map[StreamShard, Progress] = {
    val all = for {
      (arn, offset) <- streams.iterator
      (id, progress) <- offset.readable.iterator
    } yield StreamShard(arn, id) -> progress
    all.toMap
  }

  /** `None` where the offset does not have the shard. */
  def shard(shard: StreamShard): Option[ShardProgress] =
    streams.get(shard.stream).flatMap(_.shards.get(shard.shard))
}

object SourceOffset {
  def of(streams: Iterable[StreamOffset]): SourceOffset =
    SourceOffset(SortedMap.from(streams.map(offset => offset.stream -> offset)))
}
