package sparkkinesis.sink.lane

import scala.collection.mutable

import sparkkinesis.sink.SinkOptions

/** The records of a request that lanes are filling. */
private[sink] final class RequestRecords(limits: RequestLimits) {
  private val records = mutable.ArrayBuffer.empty[PendingRecord]
  private var bytes = 0L
  private var hasRoom = true

  def size: Int = records.size

  /** Whether there is room for the record. A record larger than any request is sent alone. */
  def fits(record: PendingRecord): Boolean = {
    hasRoom =
      records.isEmpty || records.size < limits.records && bytes + record.size <= limits.bytes
    hasRoom
  }

  /** Whether the request has its largest size, or the last record did not fit. */
  def isFull: Boolean = !hasRoom || records.size >= limits.records || bytes >= limits.bytes

  def add(record: PendingRecord): Unit = {
    records += record
    bytes += record.size
  }

  def toArray: Array[PendingRecord] = records.toArray
}

/**
 * The largest size of one `PutRecords` request.
 *
 * @param bytes of data and partition keys together
 */
private[sparkkinesis] final case class RequestLimits(records: Int, bytes: Long)

private[sparkkinesis] object RequestLimits {
  def of(options: SinkOptions): RequestLimits =
    RequestLimits(options.maxRequestRecords, options.maxRequestBytes)
}
