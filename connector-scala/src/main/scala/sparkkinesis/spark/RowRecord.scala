package sparkkinesis.spark

import java.util.Locale

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import sparkkinesis.model.{HashKey, PutEntry, ServiceLimits}

/**
 * From a row to a Kinesis record. Travels to executors.
 *
 * @param data the column's place
 * @param isText whether it is a string, written as UTF-8
 * @param explicitHashKey the column's place, where there is one
 */
private[spark] final case class RowRecord(
    data: Int,
    isText: Boolean,
    partitionKey: Int,
    explicitHashKey: Option[Int]
) {

  /**
   * @param maxRecordBytes what the stream allows for data and partition key together
   * @return or else why the row cannot be a record, beginning with the column
   */
  def entry(row: InternalRow, maxRecordBytes: Int): Either[String, PutEntry] =
    if (row.isNullAt(data)) Left("column 'data' is null")
    else
      for {
        key <- key(row)
        hashKey <- hashKey(row)
        bytes = dataOf(row)
        _ <- checkSize(bytes, row.getUTF8String(partitionKey).numBytes, maxRecordBytes)
      } yield PutEntry(key, bytes, hashKey)

  private def key(row: InternalRow): Either[String, String] =
    if (row.isNullAt(partitionKey)) Left("column 'partitionKey' is null")
    else {
      val text = row.getUTF8String(partitionKey)
      val most = ServiceLimits.PartitionKeyCharacters
      if (text.numChars == 0) Left("column 'partitionKey' is empty")
      else if (text.numChars > most)
        Left(s"column 'partitionKey' has ${text.numChars} characters, Kinesis allows $most")
      else Right(text.toString)
    }

  private def hashKey(row: InternalRow): Either[String, Option[HashKey]] =
    explicitHashKey.filterNot(row.isNullAt) match {
      case None => Right(None)
      case Some(column) =>
        val text = row.getUTF8String(column).toString
        HashKey.parse(text).map(Some(_)).toRight {
          s"column 'explicitHashKey' is '${text.take(60)}', no whole number from 0 to 2^128 - 1"
        }
    }

  private def dataOf(row: InternalRow): Array[Byte] =
    if (isText) row.getUTF8String(data).getBytes else row.getBinary(data)

  private def checkSize(bytes: Array[Byte], keyBytes: Int, most: Int): Either[String, Unit] = {
    val size = bytes.length.toLong + keyBytes
    if (size <= most) Right(())
    else Left(s"columns 'data' and 'partitionKey' take $size bytes, the stream allows $most")
  }
}

private[spark] object RowRecord {
  val InvalidSchema = "KINESIS_INVALID_SCHEMA"

  private val Columns = Seq("data", "partitionKey", "explicitHashKey")

  /**
   * @param alsoAllowed columns that are there for another use, by their names in the schema
   * @throws ConnectorError where the columns are not what a record is made of
   */
  def of(schema: StructType, alsoAllowed: Seq[String] = Nil): RowRecord = {
    refuseOthers(schema, alsoAllowed)
    val data = column(schema, "data").getOrElse(throw missing("data", "binary or string"))
    val key = column(schema, "partitionKey").getOrElse(throw missing("partitionKey", "string"))
    requireString(schema, key, "partitionKey")
    val hashKey = column(schema, "explicitHashKey")
    hashKey.foreach(requireString(schema, _, "explicitHashKey"))
    val isText = schema(data).dataType match {
      case BinaryType => false
      case _: StringType => true
      case other => throw wrongType("data", other, "binary or string")
    }
    RowRecord(data, isText, key, hashKey)
  }

  private def refuseOthers(schema: StructType, alsoAllowed: Seq[String]): Unit = {
    val others = schema.fieldNames.filterNot { name =>
      alsoAllowed.contains(name) || Columns.exists(isNamed(name, _))
    }
    if (others.nonEmpty)
      throw invalid(
        s"The sink has no use for ${others.mkString("column '", "', '", "'")}. " +
          s"Select its columns only: ${Columns.mkString(", ")}."
      )
  }

  private def column(schema: StructType, name: String): Option[Int] = {
    val found = schema.indices.filter(i => isNamed(schema(i).name, name))
    if (found.size > 1) throw invalid(s"Column '$name' is there ${found.size} times. Select one.")
    found.headOption
  }

  private def isNamed(found: String, name: String): Boolean =
    found.toLowerCase(Locale.ROOT) == name.toLowerCase(Locale.ROOT)

  private def requireString(schema: StructType, column: Int, name: String): Unit =
    schema(column).dataType match {
      case _: StringType => ()
      case other => throw wrongType(name, other, "string")
    }

  private def missing(name: String, expected: String): ConnectorError =
    invalid(s"Column '$name' ($expected) is missing. Add it to what is written.")

  private def wrongType(name: String, found: DataType, expected: String): ConnectorError =
    invalid(s"Column '$name' is ${found.simpleString}: expected $expected. Cast or encode it.")

  private def invalid(text: String): ConnectorError = ConnectorError(InvalidSchema, text)
}
