package sparkkinesis.source.replay

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, StreamShard}
import sparkkinesis.source.protocol.ShardRange

/**
 * Reads ranges. After a range of a batch query, it also reads the shard's children that the plan
 * does not contain, because a listing may be some seconds old.
 */
final class DescendantReader(reader: ShardRangeReader) {

  /** Reads the range, one page at a time, in order per shard. */
  def pages(range: ShardRange): Iterator[(StreamShard, PackedRecords)] = {
    var children = Seq.empty[ChildShard]
    val ofShard = reader.pages(range, children = _).map(range.shard -> _)
    ofShard ++ children.iterator.flatMap(child => pagesOf(range, child))
  }

  /**
   * Reads a shard and its children. After a merge, only the reader of the first parent reads the
   * child.
   */
  private def pagesOf(
      range: ShardRange,
      child: ChildShard
  ): Iterator[(StreamShard, PackedRecords)] =
    if (!range.until.exists(_.withChildren) || child.parents.min != range.shard.shard)
      Iterator.empty
    else {
      val id = range.shard.copy(shard = child.id)
      range.from match {
        case _: Progress.AtTimestamp => pages(range.copy(shard = id))
        case _ => pages(range.copy(shard = id, from = Progress.TrimHorizon, completeAsOf = None))
      }
    }
}
