package sparkkinesis.sink.write

import sparkkinesis.sink.lane.PendingRecord
import sparkkinesis.sink.rate.RecordSum

/** The results of the records that one lane has in a request. */
private[sink] final class PartResult {
  private var sentRecords, writtenRecords, throttledRecords = 0
  private var sentBytes, writtenBytes, throttledBytes = 0L
  private val failures = Vector.newBuilder[PendingRecord]

  def addWritten(record: PendingRecord): Unit = {
    addSent(record)
    writtenRecords += 1
    writtenBytes += record.size
  }

  def addFailed(record: PendingRecord, isThrottled: Boolean): Unit = {
    addSent(record)
    failures += record
    if (isThrottled) {
      throttledRecords += 1
      throttledBytes += record.size
    }
  }

  private def addSent(record: PendingRecord): Unit = {
    sentRecords += 1
    sentBytes += record.size
  }

  def sent: RecordSum = RecordSum(sentRecords, sentBytes)

  def written: RecordSum = RecordSum(writtenRecords, writtenBytes)

  def throttled: RecordSum = RecordSum(throttledRecords, throttledBytes)

  /** The records to send again, in their order. */
  def failed: Vector[PendingRecord] = failures.result()
}
