package sparkkinesis.source.replay

import sparkkinesis.model.PackedRecords
import sparkkinesis.model.offset.Progress

/**
 * Finds the batch of each record of one range. Another range of the same shard may overlap it,
 * because a query that was moved back has read records twice.
 */
final class BatchParts(range: ReplayRange) {

  /** The page, divided where batches end: the number of each batch, and its records. */
  def of(page: PackedRecords): Iterator[(Long, PackedRecords)] = {
    var rest = page
    range.ends.iterator
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
