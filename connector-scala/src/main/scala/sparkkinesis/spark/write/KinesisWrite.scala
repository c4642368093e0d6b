package sparkkinesis.spark.write

import scala.collection.mutable
import scala.concurrent.duration.FiniteDuration
import scala.util.Using

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.Executors
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.StreamingWrite

import sparkkinesis.client._
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.options.OptionException
import sparkkinesis.model.StreamArn
import sparkkinesis.sink.SinkOptions
import sparkkinesis.spark.compat.WriteShim
import sparkkinesis.spark.deadletter.{DeadLetterCommit, DeadLetterFolder, EnclosingBatch}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.lineage.KnownStreams
import sparkkinesis.spark.metrics.{WriteCounts, WriteMetrics, WriteReports}
import sparkkinesis.spark.once.{OnceQuery, OnceUnsupported}
import sparkkinesis.spark.realtime.RealTimeMode
import sparkkinesis.spark.stop.QueryStop

/**
 * The driver's part of one batch write, or of the write of one micro-batch.
 *
 * @param once for exactly once
 */
private[spark] final class KinesisWrite(
    stream: Option[StreamAccess],
    defaults: ConnectionDefaults,
    options: SinkOptions,
    columns: RowRecord,
    deadLetters: Option[DeadLetterFolder],
    query: WriteQuery,
    once: Option[OnceQuery]
) extends WriteShim
    with KnownStreams {
  private val reports = new WriteReports

  override def description(): String = {
    def ofRows = s"the streams in column '${columns.stream.fold("")(_.name)}'"
    s"Kinesis ${stream.fold(ofRows)(it => s"stream ${it.ref} (${it.client.location})")}"
  }

  /**
   * Open shards of the stream that the options name, as of the last minute; `None` if the rows name
   * streams.
   */
  def openShards: Option[Int] =
    ConnectorError.translating(stream.map(query.describe(_, options.deliveryTimeout).openShards))

  override def supportedCustomMetrics(): Array[CustomMetric] = WriteMetrics.all

  /**
   * Counts of failed attempts. Spark asks for them after a batch write, because it drops the task
   * metrics of failed attempts, whose requests nevertheless reached the service.
   */
  override def reportDriverMetrics(): Array[CustomTaskMetric] = {
    val failed = reports.news().filterNot(_.isCommitted).map(_.counts)
    if (failed.isEmpty) Array.empty else WriteMetrics.values(WriteCounts.sum(failed))
  }

  override def toBatch: BatchWrite = {
    if (once.exists(_.writeId.isEmpty))
      throw OnceUnsupported(
        "this batch write has no name by which the sink could see that it is repeated",
        "Set option 'writeId' to a name that the job has again if it runs again, and no other job."
      )
    new KinesisBatchWrite(description(), deadLetters, once, factory(_, reports, isRealTime = false))
  }

  override def toStreaming: StreamingWrite = {
    if (options.writeId.nonEmpty)
      throw ConnectorError(
        OptionException.ConflictingOptions,
        "Option 'writeId' names a batch write, and this is a streaming query. Remove the option: " +
          "the checkpoint names the batches of a query."
      )
    def newFactory(tasks: Int) =
      factory(tasks, query.reports, RealTimeMode.isRunning(SparkContext.getOrCreate()))
    new KinesisStreamingWrite(this, deadLetters, once, newFactory)
  }

  /** The stream that the options name. The driver does not know the streams of rows. */
  override def knownStreams: Iterable[StreamArn] = stream.flatMap(query.known).map(_.arn)

  private def factory(
      tasks: Int,
      to: WriteReports,
      isRealTime: Boolean
  ): KinesisDataWriterFactory = ConnectorError.translating {
    if (isRealTime) RealTimeMode.check(options, RealTimeMode.keepsKeys(SparkContext.getOrCreate()))
    deadLetters.foreach(_.check())
    val described = stream.map { access =>
      val summary = query.describe(access, options.deliveryTimeout)
      AutoDistribution.refuse(access.ref, summary, options)
      FixedStream(access, summary)
    }
    val context = SparkContext.getOrCreate()
    val executors = Executors.expected(Executors.all(context).size, tasks, context.getConf)
    val begun = for (it <- once; stream <- described) yield it.begin(stream.summary)
    val settings = WriteSettings(
      described,
      defaults,
      if (isRealTime) options.inRealTime else options,
      columns,
      deadLetters,
      executors,
      begun,
      isRealTime
    )
    val all = to.begin(context)
    KinesisDataWriterFactory(settings, report => all.add(report.toBytes))
  }
}

/**
 * A batch write. When a task commits, Kinesis has all its records: the driver only publishes dead
 * letters.
 */
private final class KinesisBatchWrite(
    description: String,
    deadLetters: Option[DeadLetterFolder],
    once: Option[OnceQuery],
    factory: Int => KinesisDataWriterFactory
) extends BatchWrite {
  private val letters = deadLetters.map(new DeadLetterCommit(_, None))

  override def toString: String = description
  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    factory(info.numPartitions)
  override def useCommitCoordinator(): Boolean = false

  override def commit(messages: Array[WriterCommitMessage]): Unit = ConnectorError.translating {
    once.foreach(_.check())
    // A run of a write that is done looks at no row, so it must not remove what an earlier one
    // kept.
    if (!once.exists(_.isDone)) letters.foreach { it =>
      if (once.isEmpty) EnclosingBatch.publishing(it.publish(messages, _)) else it.publish(messages)
    }
    once.foreach(_.commit())
  }

  override def abort(messages: Array[WriterCommitMessage]): Unit =
    try once.foreach(_.close())
    finally letters.foreach(_.abort())
}

/** The write of a streaming query: that of [[KinesisBatchWrite]], once per micro-batch. */
private final class KinesisStreamingWrite(
    write: KinesisWrite,
    deadLetters: Option[DeadLetterFolder],
    once: Option[OnceQuery],
    factory: Int => KinesisDataWriterFactory
) extends StreamingWrite
    with KnownStreams {
  override def toString: String = write.description()

  override def knownStreams: Iterable[StreamArn] = write.knownStreams

  /** Spark calls this once per micro-batch, before its tasks. */
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): KinesisDataWriterFactory = {
    QueryStop.gate().pass()
    factory(info.numPartitions)
  }

  override def useCommitCoordinator(): Boolean = false

  override def commit(epochId: Long, messages: Array[WriterCommitMessage]): Unit =
    ConnectorError.translating {
      once.foreach(_.check())
      deadLetters.foreach(new DeadLetterCommit(_, Some(epochId)).publish(messages))
      once.foreach(_.commit())
    }

  override def abort(epochId: Long, messages: Array[WriterCommitMessage]): Unit =
    try once.foreach(_.close())
    finally deadLetters.foreach(new DeadLetterCommit(_, Some(epochId)).abort())
}

/**
 * What the driver keeps about a streaming write from one micro-batch to the next: Spark plans each
 * micro-batch from the beginning. A batch write has one of its own.
 *
 * @param ask calls the service once, for a stream's description
 */
private[spark] final class WriteQuery(
    ask: StreamAccess => StreamSummary = WriteQuery.ask,
    clock: Clock = SystemClock
) {
  private val descriptions = mutable.Map.empty[StreamAccess, StreamDescription]

  /** The reports of the tasks. */
  val reports = new WriteReports

  /**
   * The stream's description, at most a minute old, or the last one if the service fails for a
   * while. Throws what [[StreamDescription]] does.
   */
  def describe(stream: StreamAccess, patience: FiniteDuration): StreamSummary =
    description(stream).within(StreamDescription.MinAge, patience)

  /** The last description, however old. */
  def known(stream: StreamAccess): Option[StreamSummary] =
    synchronized(descriptions.get(stream)).flatMap(_.last)

  private def description(stream: StreamAccess): StreamDescription = synchronized {
    descriptions.getOrElseUpdate(
      stream,
      new StreamDescription(stream.ref, () => ask(stream), clock)
    )
  }
}

private[spark] object WriteQuery {
  private def ask(stream: StreamAccess): StreamSummary =
    Using.resource(ClientPool.shared.borrow(stream.client))(_.value.describeStream(stream.ref))
}
