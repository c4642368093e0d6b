package sparkkinesis.spark.deadletter

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.sink.lane.ExpiredRecord

/**
 * A row that is not written, kept so that the user can fix it and write it again.
 *
 * @param stream name or ARN of the row's stream
 * @param row number of the row in its partition, from 1; none if the sink accepted it at first
 * @param reason stable name of the reason, such as `NULL_DATA`
 * @param message the reason as text
 * @param attempts number of requests that contained the row
 * @param mayBeWritten whether the row may be in the stream
 */
private[spark] final case class DeadLetter(
    stream: Option[String],
    row: Option[Long],
    reason: String,
    message: String,
    data: Option[Array[Byte]],
    partitionKey: Option[String],
    explicitHashKey: Option[String],
    attempts: Int = 0,
    mayBeWritten: Boolean = false
)

private[spark] object DeadLetter {

  /**
   * The dead letter of a record that its shard did not take in time. The record may have been part
   * of an aggregate.
   *
   * @param isRepeated whether another attempt may have written the row
   */
  def late(record: ExpiredRecord, timeout: FiniteDuration, isRepeated: Boolean): DeadLetter =
    DeadLetter(
      Some(record.stream.toString),
      None,
      "DELIVERY_TIMEOUT",
      s"${problem(record, timeout)} The last error was: ${record.lastError}",
      Some(record.entry.data),
      Some(record.entry.partitionKey),
      record.entry.explicitHashKey.map(_.toString),
      record.attempts,
      record.mayBeWritten || isRepeated
    )

  private def problem(record: ExpiredRecord, timeout: FiniteDuration): String =
    if (record.attempts > 0)
      s"Shard ${record.shard} did not accept the record within $timeout (deliveryTimeout)."
    else
      s"The record waited $timeout (deliveryTimeout) for shard ${record.shard}, which accepted " +
        "nothing. No request contained the record."
}
