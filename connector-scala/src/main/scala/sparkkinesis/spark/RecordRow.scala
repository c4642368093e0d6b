package sparkkinesis.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.catalog.MetadataColumn
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.model._

/** A record as a row. `(stream, shardId, sequenceNumber, subSequenceNumber)` is unique. */
object RecordRow {

  /** `partitionKey` is null on streams with `AUTO` record distribution. */
  val Schema: StructType = new StructType()
    .add("partitionKey", StringType)
    .add("data", BinaryType, nullable = false)
    .add("stream", StringType, nullable = false)
    .add("shardId", StringType, nullable = false)
    .add("sequenceNumber", StringType, nullable = false)
    .add("subSequenceNumber", LongType, nullable = false)
    .add("approximateArrivalTimestamp", TimestampType, nullable = false)

  val MetadataColumns: Array[MetadataColumn] = Array(
    metadataColumn("explicitHashKey", "The sub-record's own, where an aggregate carries one."),
    metadataColumn("encryptionType", "NONE or KMS.")
  )

  private def metadataColumn(columnName: String, text: String): MetadataColumn =
    new MetadataColumn {
      override def name: String = columnName
      override def dataType: DataType = StringType
      override def comment: String = text
    }

  /**
   * Fills one row again and again. Always with the metadata columns behind the others: Spark 4.0 and 4.1
   * do not say whether they are wanted, and ignore them where they are not.
   */
  final class Filler(stream: StreamName, shard: ShardId) {
    private val row = new GenericInternalRow(Schema.length + MetadataColumns.length)
    row.update(2, UTF8String.fromString(stream.name))
    row.update(3, UTF8String.fromString(shard.name))
    row.update(5, 0L)

    def fill(record: Record): InternalRow = {
      row.update(0, record.partitionKey.map(UTF8String.fromString).orNull)
      row.update(1, record.data)
      row.update(4, UTF8String.fromString(record.sequenceNumber.text))
      row.update(6, record.arrivalMillis * MicrosPerMilli)
      row.update(8, record.encryptionType.map(UTF8String.fromString).orNull)
      row
    }
  }

  private val MicrosPerMilli = 1000L
}
