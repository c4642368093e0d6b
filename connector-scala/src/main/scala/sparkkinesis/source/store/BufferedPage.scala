package sparkkinesis.source.store

import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, SequenceNumber}

/**
 * Records of one `GetRecords` answer.
 *
 * @param from progress before the first record
 * @param upTo `After` the last record, or `Finished`
 * @param marks number of marks that the driver keeps for the page. It is less than 1 if the driver
 *   joins the marks of several pages
 */
final case class BufferedPage(
    from: Progress,
    records: PackedRecords,
    upTo: Progress,
    marks: Double = 1
) {

  /** Size in memory. */
  def bytes: Long = records.bytes + BufferedPage.ObjectBytes

  /** Index of the first record after `progress`; `None` if `progress` is not within the page. */
  def indexAfter(progress: Progress): Option[Int] =
    if (progress == from) Some(0)
    else
      progress match {
        case Progress.After(sequenceNumber) => find(sequenceNumber).map(_ + 1)
        case Progress.From(sequenceNumber) => find(sequenceNumber)
        case Progress.Finished if upTo == Progress.Finished => Some(records.size)
        case _ => None
      }

  private def find(sequenceNumber: SequenceNumber): Option[Int] =
    if (records.isEmpty || records.compareNumber(records.size - 1, sequenceNumber) < 0) None
    else {
      var (low, high) = (0, records.size - 1)
      while (low < high) {
        val middle = (low + high) / 2
        if (records.compareNumber(middle, sequenceNumber) < 0) low = middle + 1 else high = middle
      }
      Option.when(records.compareNumber(low, sequenceNumber) == 0)(low)
    }
}

object BufferedPage {

  /** The objects around the records: for a page with few of them as much as its data. */
  val ObjectBytes = 640L
}
