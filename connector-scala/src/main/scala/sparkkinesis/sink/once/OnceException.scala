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
private[sparkkinesis] final class OnceException(
    val condition: String,
    message: String,
    cause: Throwable = null
) extends RuntimeException(message, cause)

private[sparkkinesis] object OnceException {
  val Fenced = "KINESIS_WRITE_FENCED"
  val NotDeterministic = "KINESIS_WRITE_NOT_DETERMINISTIC"
  val ReadBackFailed = "KINESIS_READ_BACK_FAILED"
  val ReadBackTooLate = "KINESIS_READ_BACK_TOO_LATE"
  val LogFailed = "KINESIS_ATTEMPT_LOG_FAILED"

  def fenced(why: String, cause: Throwable = null): OnceException = new OnceException(
    Fenced,
    s"This attempt may not write any more: $why. Only the newest attempt of a batch writes. " +
      "If two queries use this checkpoint, stop one of them.",
    cause
  )

  /** @param rows that tasks took for rows of earlier attempts, and that these did not write */
  def takenTwice(rows: Long): OnceException = new OnceException(
    NotDeterministic,
    s"The tasks of this batch took $rows more rows for rows of earlier attempts than these wrote." +
      " All rows of a partition key must be in one task, with the same key and data each time."
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

  /**
   * The file system denies a right to the sink.
   *
   * @param right such as to list files
   * @param folder of the log of attempts
   */
  def denied(right: String, folder: String, cause: Throwable): OnceException = new OnceException(
    LogFailed,
    s"The file system does not let the sink $right in $folder, its log of attempts: $cause. " +
      "Give the driver the rights to list, read, write and delete files there.",
    cause
  )

  def staleListing(folder: String): OnceException = new OnceException(
    LogFailed,
    s"The file system lists the files in $folder, the sink's log of attempts, without a file " +
      "that the sink has written there. So the sink cannot see whether another driver has " +
      "begun. Set 'checkpointLocation' to a file system that lists a new file at once, and use " +
      "no cache of listings."
  )

  /**
   * @param time for which the log of attempts was out of reach
   * @param cause null if the file system has not answered at all
   */
  def logFailed(time: FiniteDuration, cause: Throwable): OnceException = new OnceException(
    LogFailed,
    s"The sink could not read its log of attempts for $time: " +
      s"${Option(cause).getOrElse("the file system does not answer")}. Run the query again when " +
      "the file system of its checkpoint answers.",
    cause
  )

  /** @param what the driver could not do */
  def failed(what: String, cause: Throwable): OnceException =
    new OnceException(ReadBackFailed, s"The sink could not $what: $cause", cause)
}
