package sparkkinesis.spark.write

import java.util.concurrent.ThreadLocalRandom

import scala.util.Random

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory, WriterCommitMessage}

import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.sink.lane.RequestLimits
import sparkkinesis.sink.write.RecordWriter
import sparkkinesis.spark.ConnectorError
import sparkkinesis.spark.deadletter.{DeadLetterCommit, DeadLetterFile}
import sparkkinesis.spark.metrics.{WriteCounts, WriteMetrics}

/** Makes a task's writer, on an executor. */
private[spark] final case class KinesisDataWriterFactory(settings: WriteSettings)
    extends DataWriterFactory
    with StreamingDataWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): KinesisDataWriter =
    writer(partitionId, None)

  override def createWriter(
      partitionId: Int,
      taskId: Long,
      epochId: Long
  ): KinesisDataWriter = writer(partitionId, Some(epochId))

  private def writer(partitionId: Int, batch: Option[Long]): KinesisDataWriter =
    new KinesisDataWriter(
      settings,
      partitionId,
      batch,
      RoutedStreams.shared,
      SystemClock,
      new Random(ThreadLocalRandom.current().nextLong()),
      isCancelled
    )

  /** Spark marks a task it wants to end, but interrupts its thread only if the job asked for it. */
  private def isCancelled: () => Boolean = {
    val task = Option(TaskContext.get())
    () => task.exists(_.isInterrupted())
  }
}

/**
 * Writes a task's rows. Borrows and calls nothing before the first of them.
 *
 * @param batch of a streaming query
 * @param random of this task alone
 * @param isCancelled whether the task is to end
 */
private[spark] final class KinesisDataWriter(
    settings: WriteSettings,
    partitionId: Int,
    batch: Option[Long],
    streams: RoutedStreams,
    clock: Clock,
    random: Random,
    isCancelled: () => Boolean
) extends DataWriter[InternalRow] {
  private val columns = settings.columns
  private val targets = new RowTargets(settings, streams)
  private val writer = new RecordWriter(
    RequestLimits.Default,
    settings.options,
    clock,
    random,
    isCancelled
  )
  private val deadLetters =
    settings.deadLetters.map(new DeadLetterFile(_, batch, partitionId, random))
  private var rows = 0L
  private var badRows = 0L

  override def write(row: InternalRow): Unit = ConnectorError.translating {
    rows += 1
    targets.of(row) match {
      case Left(why) => refuse(row, why)
      case Right(target) => write(row, target)
    }
  }

  private def write(row: InternalRow, target: RowTarget): Unit = {
    val entry = columns.entry(row, target.maxRecordBytes, random) match {
      case Left(_: BadRow.TooLarge) => columns.entry(row, target.freshMaxRecordBytes, random)
      case other => other
    }
    entry match {
      case Left(why) => refuse(row, why)
      case Right(record) => writer.put(target.stream, record)
    }
  }

  private def refuse(row: InternalRow, why: BadRow): Unit = {
    val letter = columns.letter(row, rows, why)
    val stream = letter.stream.orElse(settings.stream.map(_.access.ref.toString))
    deadLetters match {
      case None => throw invalidRow(stream, why)
      case Some(file) => file.add(letter.copy(stream = stream))
    }
    badRows += 1
  }

  private def invalidRow(stream: Option[String], why: BadRow): ConnectorError = ConnectorError(
    "KINESIS_INVALID_ROW",
    s"Row $rows of partition $partitionId cannot go to ${stream.fold("any stream")("stream " + _)}: " +
      s"${why.text}. Mend such rows or filter them out before they are written, or name a folder " +
      "to keep them in by option 'deadLetterPath'."
  )

  /** Returns when Kinesis has acknowledged every row but those that are kept as bad ones. */
  def flush(): Unit = ConnectorError.translating(writer.flush())

  /** After a [[flush]]: what is kept of bad rows is written, and told. */
  override def commit(): WriterCommitMessage = ConnectorError.translating {
    writer.flush()
    DeadLetterCommit.message(deadLetters.flatMap(_.commit()))
  }

  override def abort(): Unit =
    try writer.close()
    finally deadLetters.foreach(_.abort())

  override def close(): Unit =
    try writer.close()
    finally targets.close()

  /** So far. */
  def counts: WriteCounts = WriteCounts(writer.metrics, badRows)

  override def currentMetricsValues(): Array[CustomTaskMetric] = WriteMetrics.values(counts)
}
