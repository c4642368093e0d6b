package sparkkinesis.spark

import scala.util.Random

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory, WriterCommitMessage}

import sparkkinesis.client.aws.{ClientPool, Lease}
import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.sink.{RecordWriter, RequestLimits, TargetStream}

/** Makes a task's writer, on an executor. */
private[spark] final case class KinesisDataWriterFactory(settings: WriteSettings)
    extends DataWriterFactory
    with StreamingDataWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] =
    ConnectorError.translating {
      val lease = ClientPool.shared.borrow(settings.client)
      new KinesisDataWriter(settings, partitionId, lease, SystemClock, Random, isCancelled)
    }

  override def createWriter(
      partitionId: Int,
      taskId: Long,
      epochId: Long
  ): DataWriter[InternalRow] = createWriter(partitionId, taskId)

  /** Spark marks a task it wants to end, but interrupts its thread only if the job asked for it. */
  private def isCancelled: () => Boolean = {
    val task = Option(TaskContext.get())
    () => task.exists(_.isInterrupted())
  }
}

/**
 * Writes a task's rows.
 *
 * @param isCancelled whether the task is to end
 */
private[spark] final class KinesisDataWriter(
    settings: WriteSettings,
    partitionId: Int,
    lease: Lease,
    clock: Clock,
    random: Random,
    isCancelled: () => Boolean
) extends DataWriter[InternalRow] {

  private val stream = new TargetStream(
    settings.stream,
    lease.client,
    settings.maxRecordBytes,
    None,
    1,
    clock,
    () => random.nextDouble()
  )
  private val writer = new RecordWriter(
    RequestLimits.Default,
    settings.options,
    clock,
    random,
    isCancelled
  )
  private var rows = 0L

  override def write(row: InternalRow): Unit = {
    rows += 1
    settings.columns.entry(row, settings.maxRecordBytes) match {
      case Right(entry) => ConnectorError.translating(writer.put(stream, entry))
      case Left(reason) => throw invalidRow(reason)
    }
  }

  private def invalidRow(reason: String): ConnectorError = ConnectorError(
    "KINESIS_INVALID_ROW",
    s"Row $rows of partition $partitionId cannot go to stream ${settings.stream}: $reason. " +
      "Mend such rows or filter them out before they are written."
  )

  /**
   * Returns when Kinesis has acknowledged every row. There is nothing left to tell the driver, and a
   * class of ours could not reach it: Spark deserializes the message without the jars a session
   * added, and would fail a write that is done.
   */
  override def commit(): WriterCommitMessage = {
    ConnectorError.translating(writer.flush())
    null
  }

  override def abort(): Unit = writer.close()

  override def close(): Unit =
    try writer.close()
    finally lease.close()

  override def currentMetricsValues(): Array[CustomTaskMetric] =
    WriteMetrics.values(writer.metrics)
}
