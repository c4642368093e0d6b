package sparkkinesis.spark.write

import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.model.{StreamArn, StreamName, StreamRef}

/**
 * The column that names the stream of each row. Travels to executors.
 *
 * @param place index in the row
 * @param isArn whether the column holds ARNs; otherwise it holds names
 */
private[spark] final case class StreamColumn(place: Int, isArn: Boolean) {
  def name: String = if (isArn) StreamColumn.Arn else StreamColumn.Name

  /** The stream of that name or ARN. White space around it is invalid. */
  def parse(text: UTF8String): Either[BadRow, StreamRef] = {
    val value = text.toString
    if (isArn) StreamArn.parse(value).map(StreamRef.ByArn).toRight(BadRow.NoStreamArn(value))
    else StreamName.parse(value).map(StreamRef.ByName).toRight(BadRow.NoStreamName(value))
  }
}

private[spark] object StreamColumn {
  val Name = "stream"
  val Arn = "streamArn"
}
