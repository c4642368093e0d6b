package sparkkinesis.sink.lane

import scala.collection.immutable.ArraySeq

import sparkkinesis.model.PutEntry

/**
 * One `PutRecords` request: some records of each of several lanes.
 *
 * @param sentAt in milliseconds
 */
private[sink] final class Request(
    val parts: Vector[Request.Part],
    val records: Array[PendingRecord],
    val sentAt: Long
) {

  /** The entries of the service call. */
  def entries: IndexedSeq[PutEntry] = ArraySeq.unsafeWrapArray(records.map(_.entry))
}

private[sink] object Request {

  /** The records of one lane: those from index `from` (inclusive) to `until` (exclusive). */
  final case class Part(lane: Lane, from: Int, until: Int)
}
