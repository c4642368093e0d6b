package sparkkinesis.sink.rate

import sparkkinesis.model.ServiceLimits

/**
 * A model of a shard's two buckets, of records and of bytes: full at first, filling all the time, up
 * to a second's worth.
 *
 * @param shards whose buckets these are
 * @param initialShare of their quota, more than 0 to 1
 */
private[sink] final class QuotaLevel(shards: Int, initialShare: Double) {
  private var share = initialShare

  /** What is left; below zero while a debt is paid back. */
  var records: Double = mostRecords
  var bytes: Double = bytesPerSecond

  /** One record must fit at any time. */
  private def mostRecords: Double = math.max(1.0, recordsPerSecond)

  def recordsPerSecond: Double = ServiceLimits.WriteRecordsPerSecond * shards * share

  def bytesPerSecond: Double = ServiceLimits.WriteBytesPerSecond.toDouble * shards * share

  /** What is left, in seconds of the quota. */
  def secondsOfRecords: Double = records / recordsPerSecond

  def secondsOfBytes: Double = bytes / bytesPerSecond

  /** The largest records pass when there is no more to wait for, and leave a debt. */
  def isFullOfBytes: Boolean = bytes >= bytesPerSecond

  def isOverdrawn: Boolean = records < 0 || bytes < 0

  /** Whether a record of that size may go, when so many seconds' worth may be overdrawn. */
  def isThere(size: Long, beyond: Double): Boolean =
    records - 1 >= -beyond * recordsPerSecond && bytes - size >= -beyond * bytesPerSecond

  /** Seconds until it is full enough; 0 or less where it is. */
  def secondsUntil(wantedRecords: Double, wantedBytes: Double): Double = math.max(
    (wantedRecords - records) / recordsPerSecond,
    (math.min(wantedBytes, bytesPerSecond) - bytes) / bytesPerSecond
  )

  def take(records: Long, bytes: Long): Unit = {
    this.records -= records
    this.bytes -= bytes
  }

  /** The same, but no debt comes of it. */
  def takeIfThere(records: Long, bytes: Long): Unit = {
    this.records = math.max(math.min(0.0, this.records), this.records - records)
    this.bytes = math.max(math.min(0.0, this.bytes), this.bytes - bytes)
  }

  def setShare(of: Double): Unit = {
    share = of
    fill(0)
  }

  def fill(seconds: Double): Unit = {
    records = math.min(mostRecords, records + recordsPerSecond * seconds)
    bytes = math.min(bytesPerSecond, bytes + bytesPerSecond * seconds)
  }

  /** No more than that is left. */
  def lower(mostRecords: Double, mostBytes: Double): Unit = {
    records = math.min(records, mostRecords)
    bytes = math.min(bytes, mostBytes)
  }
}
