package sparkkinesis.spark.write

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.Executors
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.client.aws.AwsRegion
import sparkkinesis.client.options.{ConnectionOptions, OptionException, Options}
import sparkkinesis.client.{StreamAccess, StreamReach, StreamSummary}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.spark.ConnectorError
import sparkkinesis.spark.deadletter.{DeadLetterCommit, DeadLetterFolder}
import sparkkinesis.spark.metrics.{WriteCounts, WriteMetrics, WriteReports}

/**
 * What a task must know to write. Travels to executors; prints no secret.
 *
 * @param stream that the options name: rows go there unless they say otherwise
 * @param reach of the streams that rows name
 * @param deadLetters where bad rows are kept; none: they fail their task
 * @param executors that are thought to write at a time, to share what streams allow
 */
private[spark] final case class WriteSettings(
    stream: Option[FixedStream],
    reach: StreamReach,
    options: SinkOptions,
    columns: RowRecord,
    deadLetters: Option[DeadLetterFolder],
    executors: Int
)

/** @param summary as the service described it to the driver */
private[spark] final case class FixedStream(access: StreamAccess, summary: StreamSummary)

/**
 * Plans a write, batch or streaming, in append and update mode: each row is a new record.
 *
 * Spark builds it several times a batch, so it checks options and columns, and calls nothing.
 *
 * @param batches of a streaming query: what their tasks report
 */
final class KinesisWriteBuilder(
    options: CaseInsensitiveStringMap,
    info: LogicalWriteInfo,
    batches: WriteReports = new WriteReports
) extends WriteBuilder
    with SupportsStreamingUpdateAsAppend {

  /** @throws ConnectorError where options or columns are wrong */
  override def build(): Write = ConnectorError.translating {
    val map = options.asCaseSensitiveMap.asScala.toMap
    val parsed = Options.parse(map, KinesisWriteBuilder.OptionNames)
    val sink = SinkOptions.parse(parsed)
    if (!sink.isOrdered) write(parsed, sink, RowRecord.of(info.schema))
    else {
      val order = KeyOrder.of(info.schema, sink.orderBy)
      val columns = RowRecord.of(info.schema, alsoAllowed = order.by.toSeq)
      requireOneName(parsed, columns)
      new OrderedWrite(write(parsed, sink, columns), order)
    }
  }

  /** A stream under two names would be two streams, each with an order of its own. */
  private def requireOneName(parsed: Options, columns: RowRecord): Unit =
    columns.stream.foreach { column =>
      val other = if (column.isArn) "streamName" else "streamArn"
      if (parsed.contains(other))
        throw OptionException.conflicting(
          s"With 'ordering=perKey' option ${parsed.named(other)} and column '${column.name}' may " +
            "name one stream in two ways, and its order would be lost. Use names or ARNs in both."
        )
    }

  private def write(parsed: Options, sink: SinkOptions, columns: RowRecord): KinesisWrite = {
    val stream = fixed(parsed, columns)
    val isByName = columns.stream.exists(!_.isArn)
    val reach = ConnectionOptions.reach(parsed, stream, isByName, AwsRegion.default)
    val letters = sink.deadLetters.map {
      DeadLetterFolder.of(_, info.queryId, KinesisWriteBuilder.hadoop())
    }
    new KinesisWrite(info.queryId, stream, reach, sink, columns, letters, batches)
  }

  private def fixed(parsed: Options, columns: RowRecord): Option[StreamAccess] =
    if (ConnectionOptions.nameStream(parsed))
      Some(ConnectionOptions.stream(parsed, AwsRegion.default))
    else if (columns.stream.isDefined) None
    else
      throw OptionException.missing(
        "Which stream? Give option 'streamName', such as orders, or 'streamArn', such as " +
          "arn:aws:kinesis:eu-west-1:123456789012:stream/orders, or give the rows a column " +
          "'stream' or 'streamArn'."
      )
}

object KinesisWriteBuilder {

  /** What the sink understands. */
  val OptionNames: Seq[String] =
    ConnectionOptions.Names ++ SinkOptions.Names

  /** The session's, as Spark's own sinks have it: the cluster's, and what was set for this session. */
  private def hadoop(): Configuration = {
    val conf = new Configuration(SparkContext.getOrCreate().hadoopConfiguration)
    SQLConf.get.getAllConfs.foreach { case (name, value) => conf.set(name, value) }
    conf
  }
}

/** One write of a query, on the driver. */
private[spark] final class KinesisWrite(
    queryId: String,
    stream: Option[StreamAccess],
    reach: StreamReach,
    options: SinkOptions,
    columns: RowRecord,
    deadLetters: Option[DeadLetterFolder],
    batches: WriteReports
) extends Write {
  private val reports = new WriteReports

  override def description(): String = {
    val rows = columns.stream.map(column => s"those that column '${column.name}' names")
    val named = stream.map(it => s"stream ${it.ref} (${it.client.target})")
    s"Kinesis ${(named ++ rows).mkString(", ")}"
  }

  override def supportedCustomMetrics(): Array[CustomMetric] = WriteMetrics.all

  /**
   * Spark takes this after a batch write, and forgets what failed attempts had told it; the
   * service saw their requests, too.
   */
  override def reportDriverMetrics(): Array[CustomTaskMetric] = {
    val failed = reports.news().filterNot(_.isCommitted).map(_.counts)
    if (failed.isEmpty) Array.empty else WriteMetrics.values(WriteCounts.sum(failed))
  }

  override def toBatch: BatchWrite =
    new KinesisBatchWrite(description(), deadLetters, counted(_, reports))

  override def toStreaming: StreamingWrite =
    new KinesisStreamingWrite(description(), deadLetters, counted(_, batches))

  private def counted(tasks: Int, to: WriteReports) =
    CountedWriterFactory(factory(tasks), to.begin(SparkContext.getOrCreate()))

  private def factory(tasks: Int): KinesisDataWriterFactory = ConnectorError.translating {
    deadLetters.foreach(_.check())
    val described = stream.map { it =>
      val summary = StreamDescriptions.shared.describe(queryId, it.ref, it.client)
      AutoDistribution.refuse(it.ref, summary, options)
      FixedStream(it, summary)
    }
    val executors = math.max(1, math.min(Executors.all(SparkContext.getOrCreate()).size, tasks))
    KinesisDataWriterFactory(
      WriteSettings(described, reach, options, columns, deadLetters, executors)
    )
  }
}

/**
 * Tasks have written all records by the time they commit: nothing is left to coordinate or to undo,
 * and only dead letters to publish.
 */
private[spark] final class KinesisBatchWrite(
    description: String,
    deadLetters: Option[DeadLetterFolder],
    factory: Int => CountedWriterFactory
) extends BatchWrite {
  private val letters = deadLetters.map(new DeadLetterCommit(_, None))

  override def toString: String = description
  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    factory(info.numPartitions)
  override def useCommitCoordinator(): Boolean = false

  override def commit(messages: Array[WriterCommitMessage]): Unit =
    letters.foreach(_.publish(messages))

  override def abort(messages: Array[WriterCommitMessage]): Unit = letters.foreach(_.abort())
}

/** As [[KinesisBatchWrite]], once a micro-batch. */
private[spark] final class KinesisStreamingWrite(
    description: String,
    deadLetters: Option[DeadLetterFolder],
    factory: Int => CountedWriterFactory
) extends StreamingWrite {
  override def toString: String = description
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): CountedWriterFactory =
    factory(info.numPartitions)
  override def useCommitCoordinator(): Boolean = false

  override def commit(epochId: Long, messages: Array[WriterCommitMessage]): Unit =
    deadLetters.foreach(new DeadLetterCommit(_, Some(epochId)).publish(messages))

  override def abort(epochId: Long, messages: Array[WriterCommitMessage]): Unit =
    deadLetters.foreach(new DeadLetterCommit(_, Some(epochId)).abort())
}
