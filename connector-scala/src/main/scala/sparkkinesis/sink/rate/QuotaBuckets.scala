package sparkkinesis.sink.rate

import sparkkinesis.model.ServiceLimits

/**
 * A token bucket for records and one for bytes. They are full at first, and fill continuously.
 *
 * @param shards number of shards that the buckets stand for
 * @param rate at which they fill, as a fraction of the quota of those shards
 * @param capacity in seconds of that rate
 */
private[rate] final class QuotaBuckets(shards: Int, var rate: Double, var capacity: Double) {
  import QuotaBuckets._

  private var records = maxRecords
  private var bytes = maxBytes

  private def recordsPerSecond: Double = ServiceLimits.WriteRecordsPerSecond * shards * rate

  private def bytesPerSecond: Double = ServiceLimits.WriteBytesPerSecond.toDouble * shards * rate

  /** Most records in the bucket. One record must always fit. */
  private def maxRecords: Double = math.max(1.0, recordsPerSecond * capacity)

  private def maxBytes: Double = bytesPerSecond * capacity

  def isFull: Boolean = records >= maxRecords && bytes >= maxBytes

  /** A record larger than the bucket passes while the bucket is full, and leaves a debt. */
  def fits(size: Int): Boolean = records >= 1 && (bytes >= size || bytes >= maxBytes)

  def take(records: Long, bytes: Long): Unit = {
    this.records -= records
    this.bytes -= bytes
  }

  def fill(seconds: Double): Unit = {
    records = math.min(maxRecords, records + recordsPerSecond * seconds)
    bytes = math.min(maxBytes, bytes + bytesPerSecond * seconds)
  }

  /** Leaves no more than a debt. */
  def drain(): Unit = {
    records = math.min(records, 0.0)
    bytes = math.min(bytes, 0.0)
  }

  /**
   * Seconds until a request is worth it; 0 or less if it is now: when a record fits, and all that
   * wait or what flows in within a short time.
   */
  def secondsUntil(waitingRecords: Int, waitingBytes: Long, next: Int): Double = {
    val wantedRecords = math.max(1.0, math.min(waitingRecords.toDouble, recordsPerSecond * Worth))
    val wantedBytes =
      math.max(next.toDouble, math.min(waitingBytes.toDouble, bytesPerSecond * Worth))
    math.max(
      (wantedRecords - records) / recordsPerSecond,
      (math.min(wantedBytes, maxBytes) - bytes) / bytesPerSecond
    )
  }

  /** The time until no bucket is in debt; 0 if none is. */
  def secondsOfDebt: Double =
    math.max(0.0, math.max(-records / recordsPerSecond, -bytes / bytesPerSecond))

  /** The time in which so much flows in at the rate of the whole quota, in seconds. */
  def cost(sum: RecordSum): Double = rate * math.max(
    sum.records / recordsPerSecond,
    sum.bytes / bytesPerSecond
  )
}

private object QuotaBuckets {

  /**
   * The flow in seconds that is worth waiting for: half of a small burst, so that a request that
   * waits a little loses nothing.
   */
  private val Worth = 0.025
}
