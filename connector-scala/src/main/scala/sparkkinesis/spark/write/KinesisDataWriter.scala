package sparkkinesis.spark.write

import java.util.concurrent.ThreadLocalRandom
import java.util.{Iterator => JIterator}

import scala.util.{Random, Using}

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory
import org.apache.spark.sql.connector.write.{DataWriterFactory, WriterCommitMessage}

import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.model.{Printable, PutEntry}
import sparkkinesis.sink.once.{OnceCalls, OnceSender}
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.write.RecordWriter
import sparkkinesis.spark.compat.DataWriterShim
import sparkkinesis.spark.deadletter.{DeadLetter, DeadLetterCommit, DeadLetterFile}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.{TaskReport, WriteCounts, WriteMetrics}
import sparkkinesis.spark.once.{OnceSettings, OnceTask, TaskAttempts}
import sparkkinesis.spark.realtime.RowWait

/**
 * Creates the writer of a task, on an executor.
 *
 * @param report takes the counts of an attempt when it ends
 */
private[spark] final case class KinesisDataWriterFactory(
    settings: WriteSettings,
    report: TaskReport => Unit
) extends DataWriterFactory
    with StreamingDataWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): KinesisDataWriter =
    writer(partitionId, taskId, None)

  override def createWriter(partitionId: Int, taskId: Long, epochId: Long): KinesisDataWriter =
    writer(partitionId, taskId, Some(epochId))

  private def writer(partitionId: Int, taskId: Long, batch: Option[Long]): KinesisDataWriter = {
    val random = new Random(ThreadLocalRandom.current().nextLong())
    val task = WriteTask(
      partitionId,
      batch,
      RoutedStreams.shared,
      SystemClock,
      random,
      isCancelled,
      TaskAttempts.isRepeated
    )
    settings.once match {
      case None => new KinesisDataWriter(settings, task, report)
      case Some(it) => new OnceDataWriter(settings, task, report, once(it, partitionId, taskId))
    }
  }

  private def once(once: OnceSettings, partitionId: Int, taskId: Long): OnceTask = {
    val patience = settings.options.deliveryTimeout
    val ask = OnceTask.link(once.endpoint)
    new OnceTask(once, partitionId, taskId, ask, patience, SystemClock, isCancelled)
  }

  /** Spark marks a cancelled task, but interrupts its thread only if the job asked for it. */
  private def isCancelled: () => Boolean = {
    val task = Option(TaskContext.get())
    () => task.exists(_.isInterrupted())
  }
}

/**
 * An attempt of a task.
 *
 * @param batch of a streaming query; none in a batch write
 * @param streams shared with the other tasks of the executor
 * @param random for this task alone
 * @param isCancelled whether Spark has cancelled the task
 * @param isRepeated whether another attempt of the task may have written rows
 */
private[spark] final case class WriteTask(
    partitionId: Int,
    batch: Option[Long],
    streams: RoutedStreams,
    clock: Clock,
    random: Random,
    isCancelled: () => Boolean,
    isRepeated: Boolean = false
)

/**
 * Writes the rows of a task, on an executor. Borrows no stream and calls no service before the
 * first row.
 *
 * @param report takes the counts of the attempt when it ends: Spark shows those of successful
 *   attempts only
 * @param calls of a write that is exactly once
 */
private[spark] class KinesisDataWriter(
    settings: WriteSettings,
    task: WriteTask,
    report: TaskReport => Unit,
    calls: Option[OnceCalls] = None
) extends DataWriterShim[InternalRow] {
  private val columns = settings.columns
  private val rowWait = if (settings.isRealTime) Some(new RowWait) else None
  private val writer = new RecordWriter(
    settings.options,
    calls,
    task.clock,
    task.random,
    task.isCancelled,
    onFailure = () => rowWait.foreach(_.end()),
    recheck
  )
  private val targets = new RowTargets(settings, task.streams, writer.aside(_))
  private val deadLetters =
    settings.deadLetters.map(new DeadLetterFile(_, task.batch, task.partitionId, task.random))
  private val keepsLate = settings.options.deadLetters.exists(_.keepsLateRecords)
  private var rows = 0L
  private var badRows = 0L
  private var isCommitted = false

  /** The stream may choose the shards itself since it was described. */
  private def recheck(stream: TargetStream): Unit =
    if (AutoDistribution.matters(settings.options)) {
      val named = settings.stream.map(_.access)
      named.orElse(settings.defaults.accessTo(stream.ref).toOption).foreach { access =>
        Using.resource(task.streams.borrow(access)) { loan =>
          AutoDistribution.refuse(stream.ref, loan.value.newSummary(), settings.options)
        }
      }
    }

  /** Bytes of a record that its row cannot use. */
  protected def overhead: Int = 0

  /**
   * Flushes, because Spark reads the counts after this method and not after `commit`. Spark 3.5
   * does not call it.
   */
  override def writeAll(rows: JIterator[InternalRow]): Unit = {
    while (awaitRow(rows.hasNext)) write(rows.next())
    flush()
  }

  /**
   * Returns what `next` says, which may wait for the task's next row. In real-time mode that may
   * take minutes, so a failure of the writer ends the wait.
   */
  private def awaitRow(next: => Boolean): Boolean =
    rowWait.fold(next)(_.apply(next)(ConnectorError.translating(writer.check())))

  override def write(row: InternalRow): Unit = ConnectorError.translating {
    rows += 1
    targets.of(row) match {
      case Left(why) => refuse(row, why)
      case Right(target) => write(row, target)
    }
  }

  private def write(row: InternalRow, target: RowTarget): Unit = {
    val entry = columns.entry(row, target.maxRecordBytes - overhead, task.random) match {
      case Left(_: BadRow.TooLarge) =>
        columns.entry(row, target.freshMaxRecordBytes - overhead, task.random)
      case other => other
    }
    entry match {
      case Left(why) => refuse(row, why)
      case Right(record) => put(target.stream, record)
    }
  }

  protected def put(stream: TargetStream, record: PutEntry): Unit = {
    writer.put(stream, record)
    if (keepsLate) keepLateRecords()
  }

  private def keepLateRecords(): Unit =
    writer.takeExpired().foreach { record =>
      keep(DeadLetter.late(record, settings.options.deliveryTimeout, task.isRepeated))
    }

  private def refuse(row: InternalRow, why: BadRow): Unit = {
    val letter = columns.letter(row, rows, why)
    val stream = letter.stream.orElse(settings.stream.map(_.access.ref.toString))
    if (deadLetters.isEmpty) throw invalidRow(stream, why)
    keep(letter.copy(stream = stream))
  }

  protected def keep(letter: DeadLetter): Unit = deadLetters.foreach { file =>
    file.add(letter)
    badRows += 1
  }

  private def invalidRow(stream: Option[String], why: BadRow): ConnectorError = ConnectorError(
    "KINESIS_INVALID_ROW",
    s"Row $rows of partition ${task.partitionId} cannot go to " +
      s"${stream.fold("any stream")(it => s"stream ${Printable(it, 200)}")}: ${why.text}. " +
      "Fix such rows or filter them out before the write, or set option " +
      "'deadLetterPath' to a folder that keeps them."
  )

  /** Returns when Kinesis has acknowledged every row, except for dead letters. */
  private def flush(): Unit = ConnectorError.translating {
    writer.flush()
    if (keepsLate) keepLateRecords()
  }

  /** Ends the write of the rows. */
  protected def finish(): Unit = flush()

  /** Finishes, closes the file of dead letters and sends its name to the driver. */
  override def commit(): WriterCommitMessage = ConnectorError.translating {
    finish()
    val message = DeadLetterCommit.message(deadLetters.flatMap(_.commit()))
    isCommitted = true
    message
  }

  override def abort(): Unit =
    try writer.close()
    finally deadLetters.foreach(_.abort())

  override def close(): Unit =
    try writer.close()
    finally
      try targets.close()
      finally report(TaskReport(finalCounts, isCommitted))

  /** A failed attempt keeps no dead letters. */
  private def finalCounts: WriteCounts =
    if (isCommitted) counts else counts.copy(deadLetters = 0)

  def counts: WriteCounts = WriteCounts(writer.metrics, badRows)

  override def currentMetricsValues(): Array[CustomTaskMetric] = WriteMetrics.values(counts)
}

/**
 * Writes the rows of a task exactly once: asks the driver at the first row and at the end, and
 * leaves out rows that earlier attempts wrote.
 *
 * @param once is closed with the writer
 */
private final class OnceDataWriter(
    settings: WriteSettings,
    task: WriteTask,
    report: TaskReport => Unit,
    once: OnceTask
) extends KinesisDataWriter(settings, task, report, Some(once)) {
  override protected def overhead: Int = OnceSender.OverheadBytes

  override protected def put(stream: TargetStream, record: PutEntry): Unit = {
    once.begin()
    if (!once.isWritten(record)) super.put(stream, record)
  }

  /** An earlier run of a write that is done kept its bad rows, too. */
  override protected def keep(letter: DeadLetter): Unit =
    if (!settings.once.exists(_.isDone)) super.keep(letter)

  override protected def finish(): Unit = {
    super.finish()
    once.finish()
  }

  override def close(): Unit =
    try super.close()
    finally once.close()
}
