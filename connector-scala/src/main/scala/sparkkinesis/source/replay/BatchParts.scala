package sparkkinesis.source.replay

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, StreamShard}

/** Finds the batch of each record that a task replays. */
final class BatchParts(ranges: Seq[ReplayRange]) {
  private val ends = ranges.groupBy(_.range.shard).map { case (shard, parts) =>
    shard -> parts.flatMap(_.ends).sortBy(_.batch).toVector
  }

  /** The page, divided where batches end: the number of each batch, and its records. */
  def of(shard: StreamShard, page: PackedRecords): Iterator[(Long, PackedRecords)] = {
    var rest = page
    ends(shard).iterator
      .takeWhile(_ => rest.nonEmpty)
      .map { end =>
        val part = rest.take(rest.countWhile(isWithin(end, rest, _)))
        rest = rest.slice(part.size, rest.size)
        end.batch -> part
      }
      .filter(_._2.nonEmpty)
  }

  private def isWithin(end: BatchEnd, page: PackedRecords, index: Int): Boolean =
    end.upTo match {
      case Progress.After(last) => page.compareNumber(index, last) <= 0
      case _ => true
    }
}
