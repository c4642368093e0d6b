package sparkkinesis.spark.write

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.Executors
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.StreamingWrite

import sparkkinesis.client.{ConnectionDefaults, StreamAccess}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.spark.compat.WriteShim
import sparkkinesis.spark.deadletter.{DeadLetterCommit, DeadLetterFolder}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.{WriteCounts, WriteMetrics, WriteReports}
import sparkkinesis.spark.once.OnceQuery

/**
 * One batch write, or the write of one micro-batch, on the driver.
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
) extends WriteShim {
  private val reports = new WriteReports

  override def description(): String = {
    val rows = columns.stream.map(column => s"the streams in column '${column.name}'")
    val named = stream.map(it => s"stream ${it.ref} (${it.client.location})")
    s"Kinesis ${(named ++ rows).mkString(", ")}"
  }

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
    if (once.nonEmpty)
      throw OnceQuery.unsupported(
        "a batch write has no checkpoint that says whether it is repeated",
        "Write with writeStream."
      )
    new KinesisBatchWrite(description(), deadLetters, counted(_, reports))
  }

  override def toStreaming: StreamingWrite =
    new KinesisStreamingWrite(description(), deadLetters, once, counted(_, query.reports))

  private def counted(tasks: Int, to: WriteReports) =
    CountingWriterFactory(factory(tasks), to.begin(SparkContext.getOrCreate()))

  private def factory(tasks: Int): KinesisDataWriterFactory = ConnectorError.translating {
    deadLetters.foreach(_.check())
    val described = stream.map { access =>
      val summary = query.describe(access)
      AutoDistribution.refuse(access.ref, summary, options)
      FixedStream(access, summary)
    }
    val executors = math.max(1, math.min(Executors.all(SparkContext.getOrCreate()).size, tasks))
    val begun = for (it <- once; stream <- described) yield it.begin(stream.summary)
    KinesisDataWriterFactory(
      WriteSettings(described, defaults, options, columns, deadLetters, executors, begun)
    )
  }
}

/**
 * A batch write. When a task commits, Kinesis has all its records: the driver only publishes dead
 * letters.
 */
private[spark] final class KinesisBatchWrite(
    description: String,
    deadLetters: Option[DeadLetterFolder],
    factory: Int => CountingWriterFactory
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

/** Like [[KinesisBatchWrite]], once per micro-batch. */
private[spark] final class KinesisStreamingWrite(
    description: String,
    deadLetters: Option[DeadLetterFolder],
    once: Option[OnceQuery],
    factory: Int => CountingWriterFactory
) extends StreamingWrite {
  override def toString: String = description
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): CountingWriterFactory =
    factory(info.numPartitions)
  override def useCommitCoordinator(): Boolean = false

  override def commit(epochId: Long, messages: Array[WriterCommitMessage]): Unit =
    ConnectorError.translating {
      once.foreach(_.commit())
      deadLetters.foreach(new DeadLetterCommit(_, Some(epochId)).publish(messages))
      once.foreach(_.close())
    }

  override def abort(epochId: Long, messages: Array[WriterCommitMessage]): Unit =
    try once.foreach(_.close())
    finally deadLetters.foreach(new DeadLetterCommit(_, Some(epochId)).abort())
}
