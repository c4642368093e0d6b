package sparkkinesis.sink

/** What came of a lane's part of a request. */
private[sink] final class PutOutcome {
  private var writtenRecords, throttledRecords = 0
  private var writtenBytes, throttledBytes = 0L
  private val failed = Vector.newBuilder[PendingRecord]

  def addWritten(record: PendingRecord): Unit = {
    writtenRecords += 1
    writtenBytes += record.size
  }

  def addFailed(record: PendingRecord, isThrottled: Boolean): Unit = {
    failed += record
    if (isThrottled) {
      throttledRecords += 1
      throttledBytes += record.size
    }
  }

  def written: ShardRate.Sum = ShardRate.Sum(writtenRecords, writtenBytes)

  def throttled: ShardRate.Sum = ShardRate.Sum(throttledRecords, throttledBytes)

  /** What must be sent again, in its order. */
  def again: Vector[PendingRecord] = failed.result()
}
