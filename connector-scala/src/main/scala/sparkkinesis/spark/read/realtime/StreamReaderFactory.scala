package sparkkinesis.spark.read.realtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import sparkkinesis.spark.read.task.{KinesisReaderFactory, QueryRun}

/** Creates the readers of a streaming query, in micro-batches and in real-time mode. */
final case class StreamReaderFactory(run: QueryRun) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case live: RealTimePartition => RealTimeClasses.reader(RealTimeTask.begin(run, live))
      case other => KinesisReaderFactory(run).createReader(other)
    }
}
