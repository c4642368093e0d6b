package sparkkinesis.source.replay

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ChildShard, PackedRecords, StreamShard}
import sparkkinesis.source.protocol.ShardRange

/**
 * Reads ranges, and behind one of a batch read the children that the plan did not know: a listing may
 * show the shards as they were some seconds ago.
 */
final class DescendantReader(reader: ShardRangeReader) {

  /** A page at a time, each shard's in order. */
  def pages(range: ShardRange): Iterator[(StreamShard, PackedRecords)] = {
    var children = Seq.empty[ChildShard]
    val own = reader.pages(range, children = _).map(range.shard -> _)
    own ++ children.iterator.flatMap(child => pagesOf(range, child))
  }

  /** Of a merge's two parents, the first one's reader reads the child. */
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
