package sparkkinesis.sink.rate

import sparkkinesis.model.ServiceLimits

/**
 * Two token buckets like those of a shard: one for records, one for bytes. Both are full at first,
 * and fill continuously up to the quota of one second.
 *
 * @param shards number of shards that the buckets stand for
 * @param initialShare of the quota of those shards, more than 0 and at most 1
 */
private[sink] final class QuotaBuckets(shards: Int, initialShare: Double) {
  private var share = initialShare

  /** Records that are left. Below zero while a debt is paid back. */
  var records: Double = maxRecords

  /** Bytes that are left. Below zero while a debt is paid back. */
  var bytes: Double = bytesPerSecond

  /** One record must always fit. */
  private def maxRecords: Double = math.max(1.0, recordsPerSecond)

  def recordsPerSecond: Double = ServiceLimits.WriteRecordsPerSecond * shards * share

  def bytesPerSecond: Double = ServiceLimits.WriteBytesPerSecond.toDouble * shards * share

  /** The records that are left, in seconds of the quota. */
  def secondsOfRecords: Double = records / recordsPerSecond

  /** The bytes that are left, in seconds of the quota. */
  def secondsOfBytes: Double = bytes / bytesPerSecond

  /** A record larger than the bucket passes while the bucket is full, and leaves a debt. */
  def isFullOfBytes: Boolean = bytes >= bytesPerSecond

  def isOverdrawn: Boolean = records < 0 || bytes < 0

  /**
   * Whether a record of the given size fits.
   *
   * @param overdraft seconds of the quota by which the buckets may be overdrawn
   */
  def fits(size: Long, overdraft: Double): Boolean =
    records - 1 >= -overdraft * recordsPerSecond && bytes - size >= -overdraft * bytesPerSecond

  /** Seconds until so much is left; 0 or less if it is left now. */
  def secondsUntil(wantedRecords: Double, wantedBytes: Double): Double = math.max(
    (wantedRecords - records) / recordsPerSecond,
    (math.min(wantedBytes, bytesPerSecond) - bytes) / bytesPerSecond
  )

  def take(records: Long, bytes: Long): Unit = {
    this.records -= records
    this.bytes -= bytes
  }

  /** Takes as much as is left, without making a debt. */
  def takeAvailable(records: Long, bytes: Long): Unit = {
    this.records = math.max(math.min(0.0, this.records), this.records - records)
    this.bytes = math.max(math.min(0.0, this.bytes), this.bytes - bytes)
  }

  def setShare(newShare: Double): Unit = if (newShare != share) {
    share = newShare
    fill(0)
  }

  def fill(seconds: Double): Unit = {
    records = math.min(maxRecords, records + recordsPerSecond * seconds)
    bytes = math.min(bytesPerSecond, bytes + bytesPerSecond * seconds)
  }

  /** Sets what is left to at most the given values. */
  def limitTo(maxRecords: Double, maxBytes: Double): Unit = {
    records = math.min(records, maxRecords)
    bytes = math.min(bytes, maxBytes)
  }
}
