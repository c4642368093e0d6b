package sparkkinesis.spark.write

import java.util.{Iterator => JIterator}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory, WriterCommitMessage}
import org.apache.spark.util.CollectionAccumulator

import sparkkinesis.spark.metrics.{TaskReport, WriteCounts}

/**
 * Makes writers that report what they counted.
 *
 * @param reports gathers them on the driver
 */
private[spark] final case class CountedWriterFactory(
    inner: KinesisDataWriterFactory,
    reports: CollectionAccumulator[Array[Byte]]
) extends DataWriterFactory
    with StreamingDataWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] =
    counted(inner.createWriter(partitionId, taskId))

  override def createWriter(
      partitionId: Int,
      taskId: Long,
      epochId: Long
  ): DataWriter[InternalRow] = counted(inner.createWriter(partitionId, taskId, epochId))

  private def counted(writer: KinesisDataWriter) =
    new CountingWriter(writer, report => reports.add(report.toBytes))
}

/**
 * A task's writer whose counts reach Spark: those of the UI whole, as far as the attempt succeeds,
 * and a report of every attempt, however it ends.
 */
private[spark] final class CountingWriter(writer: KinesisDataWriter, report: TaskReport => Unit)
    extends DataWriter[InternalRow] {
  private var isCommitted = false

  override def write(row: InternalRow): Unit = writer.write(row)

  /**
   * Spark reads the counts after this and not after `commit`, so all is acknowledged here already.
   * Spark 3.5 does not know this method.
   */
  override def writeAll(rows: JIterator[InternalRow]): Unit = {
    while (rows.hasNext) writer.write(rows.next())
    writer.flush()
  }

  override def commit(): WriterCommitMessage = {
    val message = writer.commit()
    isCommitted = true
    message
  }

  override def abort(): Unit = writer.abort()

  override def close(): Unit =
    try writer.close()
    finally report(ended)

  /** Dead letters of an attempt that fails are not kept. */
  private def ended: TaskReport = {
    val counts = writer.counts
    val kept = if (isCommitted) counts.deadLetters else 0
    TaskReport(WriteCounts(counts.sink, kept), isCommitted)
  }

  override def currentMetricsValues(): Array[CustomTaskMetric] = writer.currentMetricsValues()
}
