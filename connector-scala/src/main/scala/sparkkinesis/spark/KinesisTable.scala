package sparkkinesis.spark

import java.util.{EnumSet, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.read.{Scan, ScanBuilder}
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.client.aws.AwsRegion
import sparkkinesis.source.SourceOptions

/** Kinesis streams, as Spark sees them. */
final class KinesisTable
    extends Table
    with SupportsRead
    with SupportsWrite
    with SupportsMetadataColumns {
  override def name(): String = "kinesis"

  override def toString: String = name()

  override def schema(): StructType = RecordRow.Schema

  override def metadataColumns(): Array[MetadataColumn] = RecordRow.MetadataColumns

  /** Rows of any schema come to the sink, which checks them itself and says what is wrong. */
  override def capabilities(): JSet[TableCapability] = EnumSet.of(
    TableCapability.MICRO_BATCH_READ,
    TableCapability.BATCH_WRITE,
    TableCapability.STREAMING_WRITE,
    TableCapability.ACCEPT_ANY_SCHEMA
  )

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = {
    val parsed = KinesisTable.sourceOptions(options)
    () => new KinesisScan(parsed)
  }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder =
    new KinesisWriteBuilder(info.options, info)
}

object KinesisTable {

  /** @throws ConnectorError where an option is missing, wrong or unknown */
  def sourceOptions(options: CaseInsensitiveStringMap): SourceOptions = ConnectorError.translating {
    SourceOptions.parse(options.asCaseSensitiveMap.asScala.toMap, AwsRegion.default)
  }
}

/** A stream to be read. */
final class KinesisScan(options: SourceOptions) extends Scan {
  import org.apache.spark.sql.connector.metric.CustomMetric
  import org.apache.spark.sql.connector.read.streaming.MicroBatchStream

  override def readSchema(): StructType = RecordRow.Schema

  override def description(): String = s"Kinesis[${options.names}]"

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    ConnectorError.translating(new KinesisMicroBatchStream(options, checkpointLocation))

  override def supportedCustomMetrics(): Array[CustomMetric] = ReadMetrics.all
}
