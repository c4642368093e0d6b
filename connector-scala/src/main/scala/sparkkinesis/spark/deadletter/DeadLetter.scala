package sparkkinesis.spark.deadletter

/**
 * A bad row, kept so that the user can fix it and write it again.
 *
 * @param stream name or ARN of the row's stream
 * @param row number of the row in its partition, from 1
 * @param reason stable name of the reason, such as `NULL_DATA`
 * @param message the reason as text
 */
private[spark] final case class DeadLetter(
    stream: Option[String],
    row: Long,
    reason: String,
    message: String,
    data: Option[Array[Byte]],
    partitionKey: Option[String],
    explicitHashKey: Option[String]
)
