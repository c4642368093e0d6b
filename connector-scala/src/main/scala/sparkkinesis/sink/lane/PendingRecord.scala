package sparkkinesis.sink.lane

import sparkkinesis.model.PutEntry
import sparkkinesis.model.aggregate.UserRecords

/**
 * A Kinesis record that is not acknowledged yet.
 *
 * @param hashHi upper half of the hash key that determines its shard
 * @param hashLo lower half
 * @param userRecords number of the caller's records in it: 1, or those of an aggregate
 * @param bufferedBytes size of those, as it counts towards the writer's memory
 * @param arrivedAt when the caller put the oldest of them, in milliseconds
 */
private[sink] final class PendingRecord(
    val entry: PutEntry,
    val hashHi: Long,
    val hashLo: Long,
    val userRecords: Int,
    val bufferedBytes: Long,
    val arrivedAt: Long
) {

  /** Bytes that count towards the service's limits. */
  val size: Int = EntrySize.of(entry).toInt

  /** The first failure, if one happened. `deliveryTimeout` counts from it. */
  var firstFailure: Option[FirstFailure] = None

  /** Kinesis did not write it. Only the first call has an effect. */
  def failed(sentAt: Long, message: String, cause: Option[Throwable]): Unit =
    if (firstFailure.isEmpty) firstFailure = Some(FirstFailure(sentAt, message, cause))

  def isAggregate: Boolean = userRecords > 1

  /**
   * The caller's records, taken out of an aggregate. A record that is larger than its only user
   * record is an aggregate, too.
   */
  def userEntries: Seq[PutEntry] =
    if (isAggregate || size > bufferedBytes) UserRecords.of(entry) else Seq(entry)
}

/**
 * The first failure of a record.
 *
 * @param sentAt when the record was sent for the first time, in milliseconds
 */
private[sink] final case class FirstFailure(
    sentAt: Long,
    message: String,
    cause: Option[Throwable]
)
