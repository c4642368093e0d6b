package sparkkinesis.spark

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.client.aws.AwsRegion
import sparkkinesis.client.{ClientConfig, ConnectionOptions, Options, StreamAccess}
import sparkkinesis.model.StreamRef
import sparkkinesis.sink.SinkOptions

/**
 * What a task must know to write. Travels to executors; prints no secret.
 *
 * @param maxRecordBytes what the stream allows for data and partition key together
 */
private[spark] final case class WriteSettings(
    stream: StreamRef,
    client: ClientConfig,
    options: SinkOptions,
    columns: RowRecord,
    maxRecordBytes: Int
)

/**
 * Plans a write, batch or streaming, in append and update mode: each row is a new record.
 *
 * Spark builds it several times a batch, so it checks options and columns, and calls nothing.
 */
final class KinesisWriteBuilder(options: CaseInsensitiveStringMap, info: LogicalWriteInfo)
    extends WriteBuilder
    with SupportsStreamingUpdateAsAppend {

  /** @throws ConnectorError where options or columns are wrong */
  override def build(): Write = ConnectorError.translating {
    val map = options.asCaseSensitiveMap.asScala.toMap
    val parsed = Options.parse(map, KinesisWriteBuilder.OptionNames)
    val StreamAccess(stream, client) = ConnectionOptions.stream(parsed, AwsRegion.default)
    val sink = SinkOptions.parse(parsed)
    if (sink.isOrdered) {
      val order = KeyOrder.of(info.schema, sink.orderBy)
      val columns = RowRecord.of(info.schema, alsoAllowed = order.by.toSeq)
      new OrderedWrite(new KinesisWrite(info.queryId, stream, client, sink, columns), order)
    } else new KinesisWrite(info.queryId, stream, client, sink, RowRecord.of(info.schema))
  }
}

object KinesisWriteBuilder {

  /** What the sink understands. */
  val OptionNames: Seq[String] = ConnectionOptions.Names ++ SinkOptions.Names
}

/** One write of a query, on the driver. */
private[spark] final class KinesisWrite(
    queryId: String,
    stream: StreamRef,
    client: ClientConfig,
    options: SinkOptions,
    columns: RowRecord
) extends Write {
  override def description(): String = s"Kinesis stream $stream (${client.target})"

  override def supportedCustomMetrics(): Array[CustomMetric] = WriteMetrics.all

  override def toBatch: BatchWrite = new KinesisBatchWrite(description(), factory _)

  override def toStreaming: StreamingWrite = new KinesisStreamingWrite(description(), factory _)

  private def factory(): KinesisDataWriterFactory = ConnectorError.translating {
    val summary = TargetStreams.shared.describe(queryId, stream, client)
    AutoDistribution.refuse(stream, summary, options)
    KinesisDataWriterFactory(
      WriteSettings(stream, client, options, columns, summary.maxRecordBytes)
    )
  }
}

/** Tasks have written all by the time they commit: nothing is left to coordinate or to undo. */
private[spark] final class KinesisBatchWrite(
    description: String,
    factory: () => KinesisDataWriterFactory
) extends BatchWrite {
  override def toString: String = description
  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory = factory()
  override def useCommitCoordinator(): Boolean = false
  override def commit(messages: Array[WriterCommitMessage]): Unit = ()
  override def abort(messages: Array[WriterCommitMessage]): Unit = ()
}

/** As [[KinesisBatchWrite]], once a micro-batch. */
private[spark] final class KinesisStreamingWrite(
    description: String,
    factory: () => KinesisDataWriterFactory
) extends StreamingWrite {
  override def toString: String = description
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): KinesisDataWriterFactory =
    factory()
  override def useCommitCoordinator(): Boolean = false
  override def commit(epochId: Long, messages: Array[WriterCommitMessage]): Unit = ()
  override def abort(epochId: Long, messages: Array[WriterCommitMessage]): Unit = ()
}
