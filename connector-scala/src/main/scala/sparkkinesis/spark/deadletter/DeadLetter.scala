package sparkkinesis.spark.deadletter

/**
 * A bad row as it is kept, to be mended and written again.
 *
 * @param stream name or ARN that the row says
 * @param row its number in its partition, from 1
 * @param reason of [[BadRow]]
 * @param message the same in words
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
