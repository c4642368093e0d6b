package sparkkinesis.sink.rate

import sparkkinesis.compat._

/**
 * What this executor sent to a shard, and the part of the shard's quota that it received.
 *
 * @param quota the buckets of the shard if nobody else wrote to it
 */
private[rate] final class ShardTraffic(quota: QuotaBuckets) {

  // Since the last measurement.
  private var writtenRecords = 0L
  private var writtenBytes = 0L

  // Of requests without an answer: Kinesis may have written them.
  private var inFlightRecords = 0L
  private var inFlightBytes = 0L

  def sent(size: Int): Unit = {
    inFlightRecords += 1
    inFlightBytes += size
  }

  /** A request was answered, or is not awaited any more. */
  def ended(sent: RecordSum): Unit = {
    inFlightRecords = math.max(0L, inFlightRecords - sent.records)
    inFlightBytes = math.max(0L, inFlightBytes - sent.bytes)
  }

  def written(sum: RecordSum): Unit = {
    writtenRecords += sum.records
    writtenBytes += sum.bytes
  }

  def forgetWritten(): Unit = {
    writtenRecords = 0
    writtenBytes = 0
  }

  def forgetAll(): Unit = {
    forgetWritten()
    inFlightRecords = 0
    inFlightBytes = 0
  }

  /**
   * The shard throttled records, so its bucket was empty. What `quota` still has went to others.
   *
   * @param isByBytes whether the bucket of bytes was empty, not the one of records
   * @param leftBytes bytes that the bucket may have had: less than one throttled record
   * @param roundTrip seconds between the request and the answer
   * @return the part that this executor received, 0 to 1; none if it sent too little to tell
   */
  def acceptedShare(isByBytes: Boolean, leftBytes: Double, roundTrip: Double): Option[Double] = {
    val (written, left) =
      if (isByBytes)
        (
          writtenBytes / quota.bytesPerSecond,
          (quota.bytes - leftBytes - inFlightBytes) / quota.bytesPerSecond
        )
      else
        (
          writtenRecords / quota.recordsPerSecond,
          (quota.records - inFlightRecords) / quota.recordsPerSecond
        )
    val offered = written + math.max(left - roundTrip, 0.0)
    Option.when(offered >= ShardTraffic.Sample)(written / offered)
  }
}

private object ShardTraffic {

  /** In seconds of the quota. In less than that, requests in flight blur the measurement. */
  private val Sample = 0.25
}
