package sparkkinesis.spark.read.task

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import sparkkinesis.client.{Loan, StreamAccess, SystemChance, SystemClock}
import sparkkinesis.model.{PackedRecords, StreamArn, StreamShard}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.fetch.FetchService
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.replay.{DescendantReader, ShardRangeReader}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.{ReadCounts, ReadMetrics}

final case class KinesisReaderFactory(run: FetchRun) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case KinesisInputPartition(ranges, _) =>
        val ahead = Some(FetchServices.ensure(run))
        new KinesisPartitionReader(run.options, run.streams, ranges, ahead)
      case other =>
        throw new IllegalArgumentException(s"Not a partition of the Kinesis source: $other")
    }
}

/** For a batch read, without reading ahead. */
final case class KinesisBatchReaderFactory(
    options: SourceOptions,
    streams: Map[StreamArn, StreamAccess]
) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case KinesisInputPartition(ranges, _) =>
        new KinesisPartitionReader(options, streams, ranges, None)
      case other =>
        throw new IllegalArgumentException(s"Not a partition of the Kinesis source: $other")
    }
}

/**
 * Reads exactly the records of its ranges, in a task. Takes them from the pages that this executor
 * has read ahead, or from Kinesis if the executor does not hold those pages.
 *
 * @param ahead the executor's fetch service; none in a batch read
 */
final class KinesisPartitionReader(
    options: SourceOptions,
    streams: Map[StreamArn, StreamAccess],
    ranges: Seq[ShardRange],
    ahead: Option[FetchService]
) extends PartitionReader[InternalRow] {
  private val loans = mutable.Map.empty[StreamArn, Loan[StreamClient]]
  private var readRecords = 0L
  private var readBytes = 0L
  private val readers =
    mutable.Buffer.empty[ShardRangeReader] // for ranges that were not read ahead
  private val row = new RecordRow(options.deaggregate)
  private val shardPages: Iterator[(StreamShard, PackedRecords)] = ranges.iterator.flatMap(pages)

  override def next(): Boolean = row.next() || ConnectorError.translating(nextPage())

  override def get(): InternalRow = row

  @tailrec private def nextPage(): Boolean = shardPages.hasNext && {
    val (shard, records) = shardPages.next()
    readRecords += records.size
    readBytes += records.dataBytes
    row.read(shard, records)
    row.next() || nextPage()
  }

  override def close(): Unit = loans.values.foreach(_.close())

  override def currentMetricsValues(): Array[CustomTaskMetric] =
    ReadMetrics.values(
      ReadCounts(
        readRecords,
        readBytes,
        if (ahead.isEmpty) 0L else readers.size.toLong,
        readers.map(_.lostRanges).sum
      )
    )

  private def pages(range: ShardRange): Iterator[(StreamShard, PackedRecords)] =
    ahead.flatMap(_.store.parts(range)) match {
      case Some(parts) =>
        parts.iterator.flatMap { part =>
          part.records.map(range.shard -> _).fold(fromKinesis(part.range))(Iterator.single)
        }
      case None => fromKinesis(range)
    }

  private def fromKinesis(range: ShardRange): Iterator[(StreamShard, PackedRecords)] = {
    ahead.foreach(_.countReread())
    val arn = range.shard.stream
    val loan = loans.getOrElseUpdate(arn, StreamLoans.borrow(arn, streams(arn)))
    val context = TaskContext.get()
    val reader = new ShardRangeReader(
      loan.value,
      options.fetch,
      SystemClock,
      SystemChance,
      () => context != null && context.isInterrupted()
    )
    readers += reader
    new DescendantReader(reader).pages(range)
  }
}
