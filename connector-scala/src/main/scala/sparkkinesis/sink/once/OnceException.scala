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
    s"An earlier attempt wrote $rows rows that this attempt of the same $what does not contain: the " +
      "query gives other rows each time. Exactly once needs the same rows in each attempt: remove " +
      "functions such as rand() or current_timestamp() from the rows, or set 'deliveryGuarantee' to " +
      "atLeastOnce."
  )

  /** @param since the rows of the batch are not older than this */
  def tooLate(stream: StreamRef, since: Instant, retention: FiniteDuration): OnceException =
    new OnceException(
      ReadBackTooLate,
      s"The batch was begun after $since, and stream $stream keeps records for $retention: it " +
        "cannot be known which rows were written. To write all rows of the batch again, delete the " +
        "folder spark-kinesis-sink in the checkpoint."
    )

  /** @param what the driver could not do */
  def failed(what: String, cause: Throwable): OnceException =
    new OnceException(ReadBackFailed, s"The sink could not $what: $cause", cause)
}
