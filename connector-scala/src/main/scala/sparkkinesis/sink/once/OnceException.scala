package sparkkinesis.sink.once

/**
 * A write cannot be exactly once, and ends instead.
 *
 * @param condition a stable name, one of the constants of the companion object
 * @param message names the stream, and ends with what to do
 */
final class OnceException(val condition: String, message: String) extends RuntimeException(message)

object OnceException {
  val Fenced = "KINESIS_WRITE_FENCED"
  val NotDeterministic = "KINESIS_WRITE_NOT_DETERMINISTIC"
  val ReadBackFailed = "KINESIS_READ_BACK_FAILED"
  val ReadBackTooLate = "KINESIS_READ_BACK_TOO_LATE"

  def fenced(why: String): OnceException = new OnceException(
    Fenced,
    s"This attempt may not write any more: $why. Only the newest attempt of a batch writes. " +
      "If two queries use this checkpoint, stop one of them."
  )

  def notDeterministic(rows: Long, what: String): OnceException = new OnceException(
    NotDeterministic,
    s"An earlier attempt wrote $rows rows that this attempt of the same $what does not contain: the " +
      "query gives other rows each time. Exactly once needs the same rows in each attempt: remove " +
      "functions such as rand() or current_timestamp() from the rows, or set 'deliveryGuarantee' to " +
      "atLeastOnce."
  )
}
