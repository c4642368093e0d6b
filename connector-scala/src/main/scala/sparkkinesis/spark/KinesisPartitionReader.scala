package sparkkinesis.spark

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import sparkkinesis.client.SystemClock
import sparkkinesis.client.aws.{ClientPool, Lease}
import sparkkinesis.model.{PackedRecords, StreamArn, StreamShard}
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
  private val leases = mutable.Map.empty[StreamArn, Lease]
  private var readRecords = 0L
  private var readBytes = 0L
  private val readers = mutable.Buffer.empty[ShardRangeReader] // of ranges that are read again
  private val row = new RecordRow(run.options.deaggregate)
  private val shardPages: Iterator[(StreamShard, PackedRecords)] = ranges.iterator.flatMap { range =>
    pages(range).map(range.shard -> _)
  }

  override def next(): Boolean = row.next() || ConnectorError.translating(nextPage())

  override def get(): InternalRow = row

  @tailrec private def nextPage(): Boolean = shardPages.hasNext && {
    val (shard, records) = shardPages.next()
    readRecords += records.size
    readBytes += records.dataBytes
    row.read(shard, records)
    row.next() || nextPage()
  }

  override def close(): Unit = leases.values.foreach(_.close())

  override def currentMetricsValues(): Array[CustomTaskMetric] =
    ReadMetrics.values(
      readRecords,
      readBytes,
      readers.size.toLong,
      readers.map(_.lostRanges).sum
    )

  private def pages(range: ShardRange): Iterator[PackedRecords] =
    service.buffer.pages(range).getOrElse {
      service.countReread()
      val arn = range.shard.stream
      val access = run.streams(arn)
      val lease = leases.getOrElseUpdate(arn, ClientPool.shared.borrow(access.client))
      val context = TaskContext.get()
      val reader = new ShardRangeReader(
        StreamClient(access.ref, lease.client),
        run.options.fetch,
        SystemClock,
        FetchRun.chance,
        () => context != null && context.isInterrupted()
      )
      readers += reader
      reader.pages(range)
    }
}
