package sparkkinesis.sink.write

import sparkkinesis.sink.lane.PendingRecord
import sparkkinesis.sink.rate.RecordSum

/** The results of the records that one lane has in a request. */
private[sink] final class PartResult {
  private var writtenRecords, misplacedRecords, throttledRecords = 0
  private var writtenBytes, misplacedBytes, throttledBytes = 0L
  private val failures = Vector.newBuilder[PendingRecord]

  def addWritten(record: PendingRecord, isMisplaced: Boolean): Unit = {
    writtenRecords += 1
    writtenBytes += record.size
    if (isMisplaced) {
      misplacedRecords += 1
      misplacedBytes += record.size
    }
  }

  def addFailed(record: PendingRecord, isThrottled: Boolean): Unit = {
    failures += record
    if (isThrottled) {
      throttledRecords += 1
      throttledBytes += record.size
    }
  }

  def written: RecordSum = RecordSum(writtenRecords, writtenBytes)

  /** The records that Kinesis wrote to the predicted shard. */
  def placed: RecordSum =
    RecordSum(writtenRecords - misplacedRecords, writtenBytes - misplacedBytes)

  def throttled: RecordSum = RecordSum(throttledRecords, throttledBytes)

  /** The records to send again, in their order. */
  def failed: Vector[PendingRecord] = failures.result()
}
