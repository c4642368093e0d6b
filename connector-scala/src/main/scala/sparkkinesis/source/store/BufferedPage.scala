package sparkkinesis.source.store

import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, SequenceNumber}

/**
 * Records of one `GetRecords` answer.
 *
 * @param from progress before the first record
 * @param upTo `After` the last record, or `Finished`
 */
final case class BufferedPage(from: Progress, records: PackedRecords, upTo: Progress) {
  def bytes: Long = records.bytes

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
