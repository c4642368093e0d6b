package sparkkinesis.sink.once

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.StreamRef

/**
 * A write cannot be exactly once, and ends instead.
 *
 * @param condition a stable name, one of the constants of the companion object
 * @param message names the stream, and ends with what to do
 * @param cause may be null
 */
final class OnceException(val condition: String, message: String, cause: Throwable = null)
    extends RuntimeException(message, cause)

object OnceException {
  val Fenced = "KINESIS_WRITE_FENCED"
  val NotDeterministic = "KINESIS_WRITE_NOT_DETERMINISTIC"
  val ReadBackFailed = "KINESIS_READ_BACK_FAILED"
  val ReadBackTooLate = "KINESIS_READ_BACK_TOO_LATE"

  def fenced(why: String, cause: Throwable = null): OnceException = new OnceException(
    Fenced,
    s"This attempt may not write any more: $why. Only the newest attempt of a batch writes. " +
      "If two queries use this checkpoint, stop one of them.",
    cause
  )

  def notDeterministic(rows: Long, what: String): OnceException = new OnceException(
    NotDeterministic,
    s"An earlier attempt wrote $rows rows that this attempt of the same $what does not contain: " +
      "the query gives other rows each time. Exactly once needs the same rows in each attempt: " +
      "remove functions such as rand() or current_timestamp() from the rows, or set " +
      "'deliveryGuarantee' to atLeastOnce."
  )

  /** @param done when an earlier run with this `writeId` was complete, with these rows */
  def nameIsUsed(writeId: String, done: Instant, before: RowTotal, now: RowTotal): OnceException =
    new OnceException(
      NotDeterministic,
      s"Another write already used writeId '$writeId': it was complete at $done, with " +
        s"${before.rows} rows. This one has ${now.rows} rows, they are not the same, and none of " +
        "them was written. For another write, change option 'writeId'. If the same job runs " +
        "again, its query gives other rows each time: exactly once needs the same rows."
    )

  /** @param most rows that one array can hold */
  def tooManyRows(most: Long): OnceException = new OnceException(
    ReadBackFailed,
    s"Earlier attempts wrote more than $most rows of this batch, and the driver cannot compare " +
      "so many. Split a batch write into several writes, each with its own 'writeId', and limit " +
      "the batches of a query, for example with 'maxRecordsPerTrigger'. This batch can only be " +
      "written again as a whole: with another 'writeId', or with 'deliveryGuarantee' set to " +
      "atLeastOnce."
  )

  /** @param since rows of the batch that were not found yet are not older than this */
  def tooLate(stream: StreamRef, since: Instant, retention: FiniteDuration): OnceException =
    new OnceException(
      ReadBackTooLate,
      s"An earlier attempt may have written rows of this batch after $since, and stream $stream " +
        s"keeps records for $retention: it cannot be known which rows were written. To write all " +
        "rows of the batch again, change 'writeId'; for a query, delete the files in the folder " +
        "spark-kinesis-sink of the checkpoint location, but not its folders write-..., which " +
        "belong to batch writes."
    )

  /** @param what the driver could not do */
  def failed(what: String, cause: Throwable): OnceException =
    new OnceException(ReadBackFailed, s"The sink could not $what: $cause", cause)
}
