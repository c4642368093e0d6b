package sparkkinesis.sink.lane

import sparkkinesis.model.aggregate.UserRecords
import sparkkinesis.model.{PutEntry, ShardId, StreamRef}

/**
 * A Kinesis record that is not acknowledged yet.
 *
 * @param userRecords number of the caller's records in it: 1, or those of an aggregate
 * @param bufferedBytes size of those, as it counts towards the writer's memory
 * @param arrivedAt when the caller put the oldest of them, in milliseconds
 * @param lastArrivedAt when the caller put the latest of them
 */
private[sink] final class PendingRecord(
    val entry: PutEntry,
    val userRecords: Int,
    val bufferedBytes: Long,
    val arrivedAt: Long,
    val lastArrivedAt: Long
) {

  /** Bytes that count towards the service's limits. */
  def size: Int = entry.size

  /** The failures, if there were any. `deliveryTimeout` counts from the first. */
  var failures: Option[Failures] = None

  /**
   * Kinesis did not acknowledge it.
   *
   * @param mayBeWritten whether it may be in the stream
   */
  def failed(
      sentAt: Long,
      message: String,
      cause: Option[Throwable],
      mayBeWritten: Boolean
  ): Unit = {
    val failure = Failures(sentAt, message, cause, mayBeWritten)
    failures = Some(failures.fold(failure)(_.andThen(failure)))
  }

  /** This record with another key. */
  def withEntry(entry: PutEntry): PendingRecord = {
    val record = new PendingRecord(entry, userRecords, bufferedBytes, arrivedAt, lastArrivedAt)
    record.failures = failures
    record
  }

  /** So many milliseconds do not count towards `deliveryTimeout`. */
  def postpone(millis: Long): Unit =
    failures = failures.map(it => it.copy(sentAt = it.sentAt + millis))

  def isAggregate: Boolean = userRecords > 1

  /**
   * The caller's records, taken out of an aggregate. A record that is larger than its only user
   * record is an aggregate, too.
   */
  def userEntries: Seq[PutEntry] =
    if (isAggregate || size > bufferedBytes) UserRecords.of(entry) else Seq(entry)
}

/**
 * The failures of a record.
 *
 * @param sentAt when the record was sent for the first time, in milliseconds
 * @param message of the first failure
 * @param cause of the first failure
 * @param mayBeWritten whether the record may be in the stream, after any of them
 * @param attempts number of requests that failed
 */
private[sink] final case class Failures(
    sentAt: Long,
    message: String,
    cause: Option[Throwable],
    mayBeWritten: Boolean,
    attempts: Int,
    lastMessage: String
) {

  /** These failures with a later one of the same record. */
  def andThen(next: Failures): Failures = copy(
    mayBeWritten = mayBeWritten || next.mayBeWritten,
    attempts = attempts + 1,
    lastMessage = next.lastMessage
  )

  /** The failures of two records that become one record. */
  def and(other: Failures): Failures = {
    val first = if (other.sentAt < sentAt) other else this
    first.copy(
      mayBeWritten = mayBeWritten || other.mayBeWritten,
      attempts = math.max(attempts, other.attempts)
    )
  }
}

private[sink] object Failures {

  /** The failures of a record that failed once. */
  def apply(
      sentAt: Long,
      message: String,
      cause: Option[Throwable],
      mayBeWritten: Boolean
  ): Failures = Failures(sentAt, message, cause, mayBeWritten, 1, message)
}

/**
 * A record of the caller that its shard did not take in time.
 *
 * @param attempts number of requests that contained it. Zero: it waited for a shard that accepted
 *   nothing
 * @param lastError of these requests, or of others to the shard if there were none
 * @param mayBeWritten whether it may be in the stream
 */
private[sparkkinesis] final case class ExpiredRecord(
    stream: StreamRef,
    shard: ShardId,
    entry: PutEntry,
    attempts: Int,
    lastError: String,
    mayBeWritten: Boolean
)
