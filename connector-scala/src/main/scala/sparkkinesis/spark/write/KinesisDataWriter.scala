package sparkkinesis.spark.write

import java.util.concurrent.ThreadLocalRandom

import scala.util.Random

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory, WriterCommitMessage}

import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.model.PutEntry
import sparkkinesis.sink.lane.RequestLimits
import sparkkinesis.sink.once.OnceSender
import sparkkinesis.sink.write.RecordWriter
import sparkkinesis.spark.deadletter.{DeadLetter, DeadLetterCommit, DeadLetterFile}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.{WriteCounts, WriteMetrics}
import sparkkinesis.spark.once.{OnceSettings, OnceTask, TaskAttempts}
import sparkkinesis.spark.realtime.RowWait

/** Creates the writer of a task, on an executor. */
private[spark] final case class KinesisDataWriterFactory(settings: WriteSettings)
    extends DataWriterFactory
    with StreamingDataWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): KinesisDataWriter =
    writer(partitionId, None, settings.once.map(task(_, partitionId, taskId)))

  override def createWriter(
      partitionId: Int,
      taskId: Long,
      epochId: Long
  ): KinesisDataWriter =
    writer(partitionId, Some(epochId), settings.once.map(task(_, partitionId, taskId)))

  private def task(once: OnceSettings, partitionId: Int, taskId: Long): OnceTask = {
    val patience = settings.options.deliveryTimeout
    val ask = OnceTask.link(once.endpoint)
    new OnceTask(once, partitionId, taskId, ask, patience, SystemClock, isCancelled)
  }

  private def writer(
      partitionId: Int,
      batch: Option[Long],
      once: Option[OnceTask]
  ): KinesisDataWriter =
    new KinesisDataWriter(
      settings,
      partitionId,
      batch,
      once,
      RoutedStreams.shared,
      SystemClock,
      new Random(ThreadLocalRandom.current().nextLong()),
      isCancelled,
      TaskAttempts.isRepeated
    )

  /** Spark marks a cancelled task, but interrupts its thread only if the job asked for it. */
  private def isCancelled: () => Boolean = {
    val task = Option(TaskContext.get())
    () => task.exists(_.isInterrupted())
  }
}

/**
 * Writes the rows of a task, on an executor. Borrows no stream and calls no service before the
 * first row.
 *
 * @param batch of a streaming query; none in a batch write
 * @param once for exactly once; `close` closes it
 * @param random for this task alone
 * @param isCancelled whether Spark has cancelled the task
 * @param isRepeated whether another attempt of the task may have written rows
 */
private[spark] final class KinesisDataWriter(
    settings: WriteSettings,
    partitionId: Int,
    batch: Option[Long],
    once: Option[OnceTask],
    streams: RoutedStreams,
    clock: Clock,
    random: Random,
    isCancelled: () => Boolean,
    isRepeated: Boolean = false
) extends DataWriter[InternalRow] {
  private val columns = settings.columns
  private val rowWait = if (settings.isRealTime) Some(new RowWait) else None
  private val writer = new RecordWriter(
    RequestLimits.of(settings.options),
    settings.options,
    once,
    clock,
    random,
    isCancelled,
    onFailure = () => rowWait.foreach(_.end())
  )
  private val targets = new RowTargets(settings, streams, writer.aside(_))
  private val deadLetters =
    settings.deadLetters.map(new DeadLetterFile(_, batch, partitionId, random))
  private val keepsLate = settings.options.deadLetters.exists(_.keepsLateRecords)
  private val overhead = if (once.isEmpty) 0 else OnceSender.OverheadBytes
  private var rows = 0L
  private var badRows = 0L

  /**
   * Returns what `next` says, which may wait for the task's next row. In real-time mode that may
   * take minutes, so a failure of the writer ends the wait.
   */
  def awaitRow(next: => Boolean): Boolean =
    rowWait.fold(next)(_.apply(next)(ConnectorError.translating(writer.check())))

  override def write(row: InternalRow): Unit = ConnectorError.translating {
    rows += 1
    targets.of(row) match {
      case Left(why) => refuse(row, why)
      case Right(target) => write(row, target)
    }
  }

  private def write(row: InternalRow, target: RowTarget): Unit = {
    val entry = columns.entry(row, target.maxRecordBytes - overhead, random) match {
      case Left(_: BadRow.TooLarge) =>
        columns.entry(row, target.freshMaxRecordBytes - overhead, random)
      case other => other
    }
    entry match {
      case Left(why) => refuse(row, why)
      case Right(record) => if (!isWritten(record)) put(target, record)
    }
  }

  private def put(target: RowTarget, record: PutEntry): Unit = {
    writer.put(target.stream, record)
    if (keepsLate) keepLateRecords()
  }

  private def keepLateRecords(): Unit =
    for (file <- deadLetters; record <- writer.takeExpired()) {
      file.add(DeadLetter.late(record, settings.options.deliveryTimeout, isRepeated))
      badRows += 1
    }

  /** Whether an earlier attempt wrote the record. */
  private def isWritten(record: PutEntry): Boolean = once.exists { it =>
    it.begin()
    it.isWritten(record)
  }

  private def refuse(row: InternalRow, why: BadRow): Unit = {
    val letter = columns.letter(row, rows, why)
    val stream = letter.stream.orElse(settings.stream.map(_.access.ref.toString))
    deadLetters match {
      case None => throw invalidRow(stream, why)
      case Some(_) if isDone => ()
      case Some(file) =>
        file.add(letter.copy(stream = stream))
        badRows += 1
    }
  }

  /** An earlier run of the write kept its bad rows, too. */
  private def isDone = settings.once.exists(_.isDone)

  private def invalidRow(stream: Option[String], why: BadRow): ConnectorError = ConnectorError(
    "KINESIS_INVALID_ROW",
    s"Row $rows of partition $partitionId cannot go to " +
      s"${stream.fold("any stream")("stream " + _)}: ${why.text}. Fix such rows or filter them " +
      "out before the write, or set option 'deadLetterPath' to a folder that keeps them."
  )

  /** Returns when Kinesis has acknowledged every row, except for dead letters. */
  def flush(): Unit = ConnectorError.translating {
    writer.flush()
    keepLateRecords()
  }

  /** Flushes, closes the file of dead letters and sends its name to the driver. */
  override def commit(): WriterCommitMessage = ConnectorError.translating {
    flush()
    once.foreach(_.finish())
    DeadLetterCommit.message(deadLetters.flatMap(_.commit()))
  }

  override def abort(): Unit =
    try writer.close()
    finally deadLetters.foreach(_.abort())

  override def close(): Unit =
    try writer.close()
    finally
      try once.foreach(_.close())
      finally targets.close()

  def counts: WriteCounts = WriteCounts(writer.metrics, badRows)

  override def currentMetricsValues(): Array[CustomTaskMetric] = WriteMetrics.values(counts)
}
