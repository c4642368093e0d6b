package sparkkinesis.spark

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory, WriterCommitMessage}

import sparkkinesis.client.aws.{ClientPool, Lease}
import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.sink.{RecordWriter, RequestLimits}

/** Makes a task's writer, on an executor. */
private[spark] final case class KinesisDataWriterFactory(settings: WriteSettings)
    extends DataWriterFactory
    with StreamingDataWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] =
    ConnectorError.translating {
      val lease = ClientPool.shared.borrow(settings.client)
      new KinesisDataWriter(settings, partitionId, lease, SystemClock, Random)
    }

  override def createWriter(
      partitionId: Int,
      taskId: Long,
      epochId: Long
  ): DataWriter[InternalRow] = createWriter(partitionId, taskId)
}

/** Writes a task's rows; `commit` returns when Kinesis has acknowledged every one. */
private[spark] final class KinesisDataWriter(
    settings: WriteSettings,
    partitionId: Int,
    lease: Lease,
    clock: Clock,
    random: Random
) extends DataWriter[InternalRow] {

  private val writer = new RecordWriter(
    lease.client,
    settings.stream,
    RequestLimits.Default,
    settings.options,
    clock,
    random
  )
  private var rows = 0L

  override def write(row: InternalRow): Unit = {
    rows += 1
    settings.columns.entry(row, settings.maxRecordBytes) match {
      case Right(entry) => ConnectorError.translating(writer.put(entry))
      case Left(reason) => throw invalidRow(reason)
    }
  }

  private def invalidRow(reason: String): ConnectorError = ConnectorError(
    "KINESIS_INVALID_ROW",
    s"Row $rows of partition $partitionId cannot go to stream ${settings.stream}: $reason. " +
      "Mend such rows or filter them out before they are written."
  )

  override def commit(): WriterCommitMessage = {
    ConnectorError.translating(writer.flush())
    KinesisDataWriter.Done
  }

  override def abort(): Unit = writer.close()

  override def close(): Unit =
    try writer.close()
    finally lease.close()

  override def currentMetricsValues(): Array[CustomTaskMetric] =
    WriteMetrics.values(writer.metrics)
}

private[spark] object KinesisDataWriter {

  /** There is nothing left for the driver to do. */
  case object Done extends WriterCommitMessage
}
