package sparkkinesis.spark.read.task

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import sparkkinesis.client.StreamAccess
import sparkkinesis.model.StreamArn
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.replay.{BatchParts, ReplayRange}

/** The parts of shards that one task replays. */
final case class ReplayPartition(ranges: Seq[ReplayRange]) extends InputPartition

/** Reads batches of a checkpoint again, by polling. */
final case class ReplayReaderFactory(options: SourceOptions, streams: Map[StreamArn, StreamAccess])
    extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case ReplayPartition(ranges) =>
        val record = new RecordRow(options.deaggregate)
        val parts = ranges.map(it => it.range -> new ReplayRow(record, new BatchParts(it)))
        new KinesisPartitionReader(options, streams, parts, None, Map.empty)
      case other =>
        throw new IllegalArgumentException(s"Not a partition of a replay: $other")
    }
}
