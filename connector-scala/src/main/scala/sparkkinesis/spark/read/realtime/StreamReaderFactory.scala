package sparkkinesis.spark.read.realtime

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import sparkkinesis.spark.metrics.RowDelays
import sparkkinesis.spark.read.task.{FetchServices, KinesisPartitionReader, QueryRun}

/** Creates the readers of a streaming query, in micro-batches and in real-time mode. */
private[sparkkinesis] final case class StreamReaderFactory(run: QueryRun, delays: RowDelays)
    extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    val ofTask = Some(delays.ofTask())
    partition match {
      case live: RealTimePartition => RealTimeClasses.reader(RealTimeTask.begin(run, live, ofTask))
      case other =>
        val ahead = Some(FetchServices.ensure(run))
        new KinesisPartitionReader(run.options, run.streams, other, ahead, Map.empty, ofTask)
    }
  }
}
