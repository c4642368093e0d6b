package sparkkinesis.spark.write

import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.model.{StreamArn, StreamName, StreamRef}

/**
 * The column that says which stream a row goes to. Travels to executors.
 *
 * @param place in the row
 * @param isArn whether it holds ARNs, or names
 */
private[spark] final case class StreamColumn(place: Int, isArn: Boolean) {
  def name: String = if (isArn) StreamColumn.Arn else StreamColumn.Name

  /** The stream of that name or ARN, white space not left out. */
  def parse(text: UTF8String): Either[BadRow, StreamRef] = {
    val said = text.toString
    if (isArn) StreamArn.parse(said).map(StreamRef.ByArn).toRight(BadRow.NoStreamArn(said))
    else StreamName.parse(said).map(StreamRef.ByName).toRight(BadRow.NoStreamName(said))
  }
}

private[spark] object StreamColumn {
  val Name = "stream"
  val Arn = "streamArn"
}
