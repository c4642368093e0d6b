package sparkkinesis.sink.write

import sparkkinesis.sink.lane.PendingRecord
import sparkkinesis.sink.rate.ShardRate

/** What came of a lane's part of a request. */
private[sink] final class PutOutcome {
  private var sentRecords, writtenRecords, throttledRecords = 0
  private var sentBytes, writtenBytes, throttledBytes = 0L
  private val failed = Vector.newBuilder[PendingRecord]

  def addWritten(record: PendingRecord): Unit = {
    addSent(record)
    writtenRecords += 1
    writtenBytes += record.size
  }

  def addFailed(record: PendingRecord, isThrottled: Boolean): Unit = {
    addSent(record)
    failed += record
    if (isThrottled) {
      throttledRecords += 1
      throttledBytes += record.size
    }
  }

  private def addSent(record: PendingRecord): Unit = {
    sentRecords += 1
    sentBytes += record.size
  }

  def sent: ShardRate.Sum = ShardRate.Sum(sentRecords, sentBytes)

  def written: ShardRate.Sum = ShardRate.Sum(writtenRecords, writtenBytes)

  def throttled: ShardRate.Sum = ShardRate.Sum(throttledRecords, throttledBytes)

  /** What must be sent again, in its order. */
  def again: Vector[PendingRecord] = failed.result()
}
