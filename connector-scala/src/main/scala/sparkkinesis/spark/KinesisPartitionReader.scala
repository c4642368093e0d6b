package sparkkinesis.spark

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import sparkkinesis.client.SystemClock
import sparkkinesis.client.aws.{ClientPool, Lease}
import sparkkinesis.model.Record
import sparkkinesis.source._

final case class KinesisReaderFactory(run: FetchRun) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case KinesisInputPartition(ranges, _) => new KinesisPartitionReader(run, ranges)
      case other => throw new IllegalArgumentException(s"Not a partition of this source: $other")
    }
}

/**
 * Gives exactly the records of its ranges: from the pages read ahead where this executor holds them,
 * else from Kinesis again.
 */
final class KinesisPartitionReader(run: FetchRun, ranges: Seq[ShardRange])
    extends PartitionReader[InternalRow] {
  private val service = FetchRun.ensure(run)
  private var lease: Option[Lease] = None
  private var rereadRanges = 0L
  private var current: InternalRow = _
  private val rows: Iterator[InternalRow] = ranges.iterator.flatMap { range =>
    val filler = new RecordRow.Filler(run.options.stream.name, range.shard)
    records(range).map(filler.fill)
  }

  override def next(): Boolean = ConnectorError.translating {
    val hasNext = rows.hasNext
    if (hasNext) current = rows.next()
    hasNext
  }

  override def get(): InternalRow = current

  override def close(): Unit = lease.foreach(_.close())

  override def currentMetricsValues(): Array[CustomTaskMetric] =
    ReadMetrics.values(rereadRanges)

  private def records(range: ShardRange): Iterator[Record] =
    service.buffer.records(range).getOrElse {
      rereadRanges += 1
      val borrowed = lease.getOrElse(ClientPool.shared.borrow(run.options.client))
      lease = Some(borrowed)
      val context = TaskContext.get()
      new ShardRangeReader(
        run.options.stream,
        borrowed.client,
        run.options.fetch,
        SystemClock,
        FetchRun.chance,
        () => context != null && context.isInterrupted()
      ).records(range)
    }
}
