package sparkkinesis.spark.write

import java.util.Locale

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.model.{HashKey, PutEntry, ServiceLimits, StreamArn, StreamName, StreamRef}
import sparkkinesis.spark.deadletter.DeadLetter
import sparkkinesis.spark.errors.ConnectorError

/**
 * Converts rows to Kinesis records. Travels to executors.
 *
 * @param data index of the column
 * @param isText whether column `data` is a string, written as UTF-8
 * @param partitionKey index of the column. Without the column or its value, a record gets a random
 *   key
 * @param needsKey whether a row without a value in that column is a bad row
 * @param explicitHashKey index of the column, if there is one
 * @param stream the column that names the stream, if there is one
 */
private[spark] final case class RowRecord(
    data: Int,
    isText: Boolean,
    partitionKey: Option[Int],
    needsKey: Boolean,
    explicitHashKey: Option[Int],
    stream: Option[StreamColumn]
) {

  /**
   * The record of a row.
   *
   * @param maxRecordBytes limit of the row's stream, for data and partition key together
   * @param random for rows without a partition key
   * @return `Left` if the row cannot become a record
   */
  def entry(row: InternalRow, maxRecordBytes: Int, random: Random): Either[BadRow, PutEntry] =
    if (row.isNullAt(data)) Left(BadRow.NullData)
    else
      for {
        key <- key(row, random)
        hashKey <- hashKey(row)
        entry = PutEntry(key, dataOf(row), hashKey, !hasKey(row))
        fitting <- RowRecord.fitting(entry, maxRecordBytes)
      } yield fitting

  /** The dead letter of a bad row, with the values that the row has. */
  def letter(row: InternalRow, number: Long, why: BadRow): DeadLetter = {
    def text(place: Option[Int]) =
      place.filterNot(row.isNullAt).map(row.getUTF8String(_).toString)
    DeadLetter(
      text(stream.map(_.place)),
      Some(number),
      why.reason,
      why.text,
      if (row.isNullAt(data)) None else Some(dataOf(row)),
      text(partitionKey),
      text(explicitHashKey)
    )
  }

  private def key(row: InternalRow, random: Random): Either[BadRow, String] =
    if (hasKey(row)) RowRecord.key(row.getUTF8String(partitionKey.get))
    else if (needsKey) Left(BadRow.NullKey)
    else Right(PutEntry.randomKey(random.nextLong()))

  private def hasKey(row: InternalRow): Boolean = partitionKey.exists(!row.isNullAt(_))

  private def hashKey(row: InternalRow): Either[BadRow, Option[HashKey]] =
    explicitHashKey.filterNot(row.isNullAt) match {
      case None => RowRecord.WithoutHashKey
      case Some(column) =>
        val text = row.getUTF8String(column).toString
        HashKey.parse(text).map(Some(_)).toRight(BadRow.NoHashKey(text))
    }

  private def dataOf(row: InternalRow): Array[Byte] =
    if (isText) row.getUTF8String(data).getBytes else row.getBinary(data)
}

private[spark] object RowRecord {
  private val WithoutHashKey: Either[BadRow, Option[HashKey]] = Right(None)

  val InvalidSchema = "KINESIS_INVALID_SCHEMA"

  private val Columns =
    Seq("data", "partitionKey", "explicitHashKey", StreamColumn.Name, StreamColumn.Arn)

  /**
   * The key of a row. Spark does not check the bytes of a string, and Java decodes different
   * invalid bytes to the same key: such rows would be in several tasks, and in no order.
   */
  private def key(text: UTF8String): Either[BadRow, String] = {
    val most = ServiceLimits.PartitionKeyCharacters
    val key = text.toString
    if (key.isEmpty) Left(BadRow.EmptyKey)
    else if (key.indexOf(Replacement) >= 0 && UTF8String.fromString(key) != text)
      Left(BadRow.InvalidKey(text.getBytes.toVector))
    else if (text.numBytes > most && text.numChars > most) Left(BadRow.LongKey(text.numChars))
    else Right(key)
  }

  /** Java decodes invalid bytes to this character. */
  private val Replacement = '\uFFFD'

  private def fitting(entry: PutEntry, most: Int): Either[BadRow, PutEntry] =
    if (entry.size > most) Left(BadRow.TooLarge(entry.size.toLong, most)) else Right(entry)

  /**
   * @param alsoAllowed columns that the sink uses but does not write
   * @param needsKey whether a row without a partition key is a bad row; otherwise its record gets a
   *   random key
   * @param namesStreams whether a column names the stream; otherwise such columns are ignored
   * @throws ConnectorError if the columns do not describe records
   */
  def of(
      schema: StructType,
      alsoAllowed: Seq[String] = Nil,
      needsKey: Boolean = false,
      namesStreams: Boolean = true
  ): RowRecord = {
    refuseOthers(schema, alsoAllowed)
    val data = column(schema, "data").getOrElse(throw missing("data", "binary or string"))
    val isText = schema(data).dataType match {
      case BinaryType => false
      case _: StringType => true
      case other => throw wrongType("data", other, "binary or string")
    }
    RowRecord(
      data,
      isText,
      string(schema, "partitionKey"),
      needsKey,
      string(schema, "explicitHashKey"),
      if (namesStreams) stream(schema) else None
    )
  }

  private def stream(schema: StructType): Option[StreamColumn] =
    (string(schema, StreamColumn.Name), string(schema, StreamColumn.Arn)) match {
      case (Some(_), Some(_)) =>
        throw invalid(
          "The rows have both column 'stream' and column 'streamArn'. Select one of them."
        )
      case (Some(name), _) => Some(StreamColumn(name, isArn = false))
      case (_, arn) => arn.map(StreamColumn(_, isArn = true))
    }

  private def refuseOthers(schema: StructType, alsoAllowed: Seq[String]): Unit = {
    val known = Columns ++ alsoAllowed
    val others = schema.fieldNames.filterNot(name => known.exists(isNamed(name, _)))
    if (others.nonEmpty)
      throw invalid(
        s"The sink does not write ${others.mkString("column '", "', '", "'")}. " +
          s"Select only columns that it writes: ${known.mkString(", ")}."
      )
  }

  private def string(schema: StructType, name: String): Option[Int] = {
    val place = column(schema, name)
    place.map(schema(_).dataType).foreach {
      case _: StringType => ()
      case other => throw wrongType(name, other, "string")
    }
    place
  }

  private def column(schema: StructType, name: String): Option[Int] = {
    val found = schema.indices.filter(i => isNamed(schema(i).name, name))
    if (found.size > 1) throw invalid(s"The rows have ${found.size} columns '$name'. Select one.")
    found.headOption
  }

  private def isNamed(found: String, name: String): Boolean =
    found.toLowerCase(Locale.ROOT) == name.toLowerCase(Locale.ROOT)

  private def missing(name: String, expected: String): ConnectorError =
    invalid(s"Column '$name' ($expected) is missing. Add it to the rows.")

  private def wrongType(name: String, found: DataType, expected: String): ConnectorError =
    invalid(s"Column '$name' is ${found.simpleString}: expected $expected. Cast or encode it.")

  private def invalid(text: String): ConnectorError = ConnectorError(InvalidSchema, text)
}

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
