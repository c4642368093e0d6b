package sparkkinesis.source

import sparkkinesis.client.Page
import sparkkinesis.model._

/** Where a batch may end within a page. */
object PageMarks {

  /** One mark at the page's end, and as many within as the limits of a batch ask for. */
  def of(page: Page, settings: FetchSettings): Vector[Mark] = {
    val isEnd = page.next.isEmpty
    if (page.records.isEmpty)
      if (isEnd) Vector(Mark(Progress.Finished, 0, 0, 0)) else Vector.empty
    else {
      val ends = settings.marks(page.records)
      ends.zip(-1 +: ends).map { case (last, before) =>
        val isFinished = isEnd && last == page.records.size - 1
        mark(page.records, before + 1, last, isFinished)
      }
    }
  }

  private def mark(
      records: IndexedSeq[Record],
      first: Int,
      last: Int,
      isFinished: Boolean
  ): Mark = {
    val bytes = (first to last).foldLeft(0L)((sum, index) => sum + records(index).data.length)
    val upTo = if (isFinished) Progress.Finished else Progress.After(records(last).sequenceNumber)
    Mark(upTo, (last - first + 1).toLong, bytes, records(last).arrivalMillis)
  }
}
