package sparkkinesis.sink.lane

import scala.collection.immutable.ArraySeq
import scala.collection.mutable

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

  /** As the service gets them. */
  def entries: IndexedSeq[PutEntry] = ArraySeq.unsafeWrapArray(records.map(_.entry))
}

private[sink] object Request {

  /**
   * What a lane has in it: the records from `from`, before `until`.
   *
   * @param isProbe whether some go beyond what is known of the shard's quota
   */
  final case class Part(lane: Lane, from: Int, until: Int, isProbe: Boolean)

  /** A request that fills. */
  final class Gathering(limits: RequestLimits) {
    private val records = mutable.ArrayBuffer.empty[PendingRecord]
    private val parts = Vector.newBuilder[Part]
    private var bytes = 0L

    def size: Int = records.size

    /** A record larger than any request stands alone. */
    def fits(record: PendingRecord): Boolean =
      records.isEmpty || records.size < limits.records && bytes + record.size <= limits.bytes

    def isFull: Boolean = records.size >= limits.records || bytes >= limits.bytes

    def add(record: PendingRecord): Unit = {
      records += record
      bytes += record.size
    }

    /** All that was added since `from` is this lane's. */
    def endPart(lane: Lane, from: Int, isProbe: Boolean): Unit =
      parts += Part(lane, from, size, isProbe)

    def result(now: Long): Request = new Request(parts.result(), records.toArray, now)
  }
}
