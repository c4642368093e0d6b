package sparkkinesis.source.fetch

import sparkkinesis.model.PackedRecords
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.Mark

/** Places in a page where a batch may end. */
private[sparkkinesis] object PageMarks {

  /**
   * The marks of a page: one at its end, and as many before it as the limits of a batch require.
   */
  def of(records: PackedRecords, isEnd: Boolean, settings: FetchSettings): Vector[Mark] =
    if (records.isEmpty)
      if (isEnd) Vector(Mark(Progress.Finished, 0, 0, 0)) else Vector.empty
    else {
      val ends = settings.marks(records)
      ends.zip(-1 +: ends).map { case (last, before) =>
        mark(records, before + 1, last, isFinished = isEnd && last == records.size - 1)
      }
    }

  private def mark(
      records: PackedRecords,
      first: Int,
      last: Int,
      isFinished: Boolean
  ): Mark = {
    val marked = records.slice(first, last + 1)
    val upTo = if (isFinished) Progress.Finished else Progress.After(records.sequenceNumber(last))
    Mark(
      upTo,
      marked.size.toLong,
      marked.dataBytes,
      marked.lastArrivalMillis.getOrElse(0),
      marked.arrivalMillis(0)
    )
  }
}
