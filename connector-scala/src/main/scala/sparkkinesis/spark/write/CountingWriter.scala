package sparkkinesis.spark.write

import java.util.{Iterator => JIterator}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory, WriterCommitMessage}
import org.apache.spark.util.CollectionAccumulator

import sparkkinesis.spark.compat.DataWriterShim
import sparkkinesis.spark.metrics.{TaskReport, WriteCounts}

/**
 * Creates writers that report their counts.
 *
 * @param reports collects the reports on the driver
 */
private[spark] final case class CountingWriterFactory(
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
 * The writer of a task, with its counts: Spark's UI gets those of successful attempts, and the
 * driver gets a report of every attempt.
 */
private[spark] final class CountingWriter(writer: KinesisDataWriter, report: TaskReport => Unit)
    extends DataWriterShim[InternalRow] {
  private var isCommitted = false

  override def write(row: InternalRow): Unit = writer.write(row)

  /**
   * Flushes, because Spark reads the counts after this method and not after `commit`. Spark 3.5
   * does not call it.
   */
  override def writeAll(rows: JIterator[InternalRow]): Unit = {
    while (writer.awaitRow(rows.hasNext)) writer.write(rows.next())
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
    finally report(finalReport)

  /** A failed attempt keeps no dead letters. */
  private def finalReport: TaskReport = {
    val counts = writer.counts
    val deadLetters = if (isCommitted) counts.deadLetters else 0
    TaskReport(WriteCounts(counts.sink, deadLetters), isCommitted)
  }

  override def currentMetricsValues(): Array[CustomTaskMetric] = writer.currentMetricsValues()
}
