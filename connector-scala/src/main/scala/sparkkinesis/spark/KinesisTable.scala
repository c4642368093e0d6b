package sparkkinesis.spark

import java.util.{EnumSet, Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.{SinkProgress, WriteCounts}
import sparkkinesis.spark.read.task.RecordRow
import sparkkinesis.spark.read.{KinesisScanBuilder, ReadOptions}
import sparkkinesis.spark.write.{KinesisWriteBuilder, WriteQuery}

/**
 * Kinesis streams, as Spark sees them. Used on the driver.
 *
 * @param rowSchema schema that Spark passes: for a source, its own schema or the user's; for a
 *   sink, the schema of the rows
 * @param definition of a table in a catalog; none for a `DataFrame` of options
 * @param isReplay whether the options are those of a replay, which has one more column
 */
private[sparkkinesis] final class KinesisTable(
    rowSchema: StructType,
    definition: Option[TableDefinition] = None,
    isReplay: Boolean = false
) extends Table
    with SupportsRead
    with SupportsWrite
    with SupportsMetadataColumns
    with ReportsSinkMetrics {
  private val query = new WriteQuery

  override def name(): String = "kinesis"

  override def toString: String = name()

  override def schema(): StructType = ReadOptions.schema(isReplay)

  override def metadataColumns(): Array[MetadataColumn] = RecordRow.MetadataColumns

  override def properties(): JMap[String, String] =
    definition.fold(Map.empty[String, String])(_.masked).asJava

  /** The sink accepts rows of any schema, and checks them itself to give a better error. */
  override def capabilities(): JSet[TableCapability] = EnumSet.of(
    TableCapability.BATCH_READ,
    TableCapability.MICRO_BATCH_READ,
    TableCapability.BATCH_WRITE,
    TableCapability.STREAMING_WRITE,
    TableCapability.ACCEPT_ANY_SCHEMA
  )

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    ConnectorError.translating {
      def parse(defined: TableDefinition => Map[String, String]) = ReadOptions.parse(
        TableDefinition.merged(definition.fold(Map.empty[String, String])(defined), options)
      )
      val parsed = parse(_.streamOptions)
      // The catalog stores columns that ALTER TABLE may have changed. They change nothing here.
      if (definition.nonEmpty) TableDefinition.refuseReplay(parsed)
      else ReadOptions.checkSchema(rowSchema, schema())
      val ofBatch = if (definition.isEmpty) parsed else parse(_.batchOptions)
      // The check waits for the read, because DESCRIBE TABLE EXTENDED builds a scan, too.
      new KinesisScanBuilder(parsed, ofBatch, () => definition.foreach(_.checked))
    }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = ConnectorError.translating {
    val defined = definition.fold(Map.empty[String, String])(_.checked.sinkOptions)
    new KinesisWriteBuilder(TableDefinition.merged(defined, info.options), info, query)
  }

  /** Counts of the last batch. Spark asks once per batch, for the progress of a streaming query. */
  override def metrics(): JMap[String, String] =
    SinkProgress.of(WriteCounts.sum(query.reports.news().map(_.counts))).asJava
}
