package sparkkinesis.spark

import java.util.{EnumSet, Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics
import org.apache.spark.sql.connector.read.{Scan, ScanBuilder}
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.client.aws.{AwsRegion, ClientPool}
import sparkkinesis.client.options.OptionException
import sparkkinesis.client.{ShardFilter, ShardSnapshot, StreamAccess, SystemClock}
import sparkkinesis.model.Shard
import sparkkinesis.source.checkpoint.StreamCheck
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.position.DefinedPositions
import sparkkinesis.source.replay.ReadBounds
import sparkkinesis.spark.metrics.{ReadMetrics, SinkProgress, WriteCounts, WriteReports}
import sparkkinesis.spark.read.{FetchRun, KinesisBatch, KinesisMicroBatchStream, RecordRow}
import sparkkinesis.spark.write.KinesisWriteBuilder

/**
 * Kinesis streams, as Spark sees them.
 *
 * @param said of a source, its own columns or what a user said in their place; of a sink, the rows'
 */
final class KinesisTable(said: StructType)
    extends Table
    with SupportsRead
    with SupportsWrite
    with SupportsMetadataColumns
    with ReportsSinkMetrics {
  private val batches = new WriteReports

  override def name(): String = "kinesis"

  override def toString: String = name()

  override def schema(): StructType = RecordRow.Schema

  override def metadataColumns(): Array[MetadataColumn] = RecordRow.MetadataColumns

  /** Rows of any schema come to the sink, which checks them itself and says what is wrong. */
  override def capabilities(): JSet[TableCapability] = EnumSet.of(
    TableCapability.BATCH_READ,
    TableCapability.MICRO_BATCH_READ,
    TableCapability.BATCH_WRITE,
    TableCapability.STREAMING_WRITE,
    TableCapability.ACCEPT_ANY_SCHEMA
  )

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = {
    KinesisTable.checkColumns(said)
    new KinesisScanBuilder(KinesisTable.sourceOptions(options))
  }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder =
    new KinesisWriteBuilder(info.options, info, batches)

  /** Of the last batch, for a streaming query's progress, which asks once a batch. */
  override def metrics(): JMap[String, String] =
    SinkProgress.of(WriteCounts.sum(batches.news().map(_.counts))).asJava
}

object KinesisTable {
  private def columns(schema: StructType) = schema.map(field => field.name -> field.dataType)

  private def checkColumns(said: StructType): Unit = ConnectorError.translating {
    if (columns(said) != columns(RecordRow.Schema))
      throw new OptionException(
        OptionException.InvalidOption,
        s"The schema ${said.simpleString} was given, and a Kinesis source has columns of its own: " +
          s"${RecordRow.Schema.fieldNames.mkString(", ")}. Leave 'schema' out, and take column 'data' " +
          "apart, with from_json for example."
      )
  }

  /** @throws ConnectorError where an option is missing, wrong or unknown */
  def sourceOptions(options: CaseInsensitiveStringMap): SourceOptions = ConnectorError.translating {
    SourceOptions.parse(options.asCaseSensitiveMap.asScala.toMap, AwsRegion.default)
  }

  /**
   * The same where a `DataFrame` is defined: positions are looked at more closely. The service is
   * asked only where they name shards.
   */
  def definedOptions(options: CaseInsensitiveStringMap): SourceOptions =
    ConnectorError.translating {
      val parsed = sourceOptions(options)
      new DefinedPositions(parsed, SystemClock.now).check(shardsOf)
      parsed
    }

  private def shardsOf(stream: StreamAccess): Seq[Shard] =
    Using.resource(ClientPool.shared.borrow(stream.client)) { lease =>
      StreamCheck.Retrying(SystemClock, FetchRun.chance) {
        ShardSnapshot.list(lease.client, stream.ref, ShardFilter.FromTrimHorizon).shards
      }
    }
}

/**
 * A stream to be read.
 *
 * @param bounds of a batch read
 */
final class KinesisScan(options: SourceOptions, bounds: ReadBounds) extends Scan {
  import org.apache.spark.sql.connector.metric.CustomMetric
  import org.apache.spark.sql.connector.read.Batch
  import org.apache.spark.sql.connector.read.streaming.MicroBatchStream

  private lazy val batch = new KinesisBatch(options, bounds)

  override def readSchema(): StructType = RecordRow.Schema

  /** Spark would otherwise ask for the tasks, and so for where the read ends, to explain a plan. */
  override def columnarSupportMode(): Scan.ColumnarSupportMode =
    Scan.ColumnarSupportMode.UNSUPPORTED

  override def description(): String = s"Kinesis[${options.names}]"

  override def toBatch: Batch = batch

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
    ConnectorError.translating {
      if (options.end.nonEmpty)
        throw OptionException.conflicting(
          "Option 'endingPosition' is for batch reads (spark.read), and this is a streaming query. " +
            "Leave it out; a query with Trigger.AvailableNow ends by itself."
        )
      new KinesisMicroBatchStream(options, checkpointLocation)
    }

  override def supportedCustomMetrics(): Array[CustomMetric] = ReadMetrics.all
}
