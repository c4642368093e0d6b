package sparkkinesis.spark.read.task

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import sparkkinesis.client.{Loan, StreamAccess, SystemClock}
import sparkkinesis.model.{ConsumerArn, StreamArn}
import sparkkinesis.shard.feed.{FeedNews, ShardRangeReader}
import sparkkinesis.shard.{ShardRange, StreamClient}
import sparkkinesis.source.fetch.FetchService
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.replay.TaskPages
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.{ReadCounts, ReadMetrics, TaskDelays}

/**
 * Creates the readers of a batch read or a replay, which do not read ahead.
 *
 * @param consumers of enhanced fan-out; none of a stream that is polled
 */
private[sparkkinesis] final case class KinesisBatchReaderFactory(
    options: SourceOptions,
    streams: Map[StreamArn, StreamAccess],
    consumers: Map[StreamArn, ConsumerArn]
) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new KinesisPartitionReader(options, streams, partition, None, consumers, None)
}

/**
 * Reads exactly the records of its ranges, in a task. Takes them from the pages that this executor
 * has read ahead, or from Kinesis if the executor does not hold those pages. In order per range.
 *
 * @param ahead the executor's fetch service; none in a batch read
 * @param consumers by which the first attempt of a batch read reads: a second subscription would
 *   end the one of an attempt that still runs
 * @param delays counts each record; none in a batch read
 */
private[sparkkinesis] final class KinesisPartitionReader(
    options: SourceOptions,
    streams: Map[StreamArn, StreamAccess],
    partition: InputPartition,
    ahead: Option[FetchService],
    consumers: Map[StreamArn, ConsumerArn],
    delays: Option[TaskDelays]
) extends PartitionReader[InternalRow] {
  private val loans = mutable.Map.empty[StreamArn, Loan[StreamClient]]
  private val news = new FeedNews
  private var readRecords = 0L
  private var readBytes = 0L
  private val readers =
    mutable.Buffer.empty[ShardRangeReader] // for ranges that were not read ahead
  private val pages = new TaskPages(ranges, ahead.map(_.store), newReader)
  private val row = new RecordRow(options.deaggregate, options.replay.nonEmpty, delays)

  private def ranges: Seq[ShardRange] = partition match {
    case KinesisInputPartition(ranges, _) => ranges
    case other => throw new IllegalArgumentException(s"Not a partition of the source: $other")
  }

  override def next(): Boolean = row.next() || ConnectorError.translating(nextPage())

  override def get(): InternalRow = row

  @tailrec private def nextPage(): Boolean = pages.next() match {
    case Some(page) =>
      readRecords += page.records.size
      readBytes += page.records.dataBytes
      row.read(page.shard, page.records, page.batch)
      row.next() || nextPage()
    case None => false
  }

  override def close(): Unit =
    try readers.foreach(_.close())
    finally loans.values.foreach(_.close())

  override def currentMetricsValues(): Array[CustomTaskMetric] =
    ReadMetrics.values(
      ReadCounts(
        readRecords,
        readBytes,
        if (ahead.isEmpty) 0L else readers.size.toLong,
        readers.map(_.lostRanges).sum
      )
    )

  private def newReader(arn: StreamArn): ShardRangeReader = {
    ahead.foreach(_.countReread())
    val loan = loans.getOrElseUpdate(arn, StreamLoans.borrow(arn, streams(arn)))
    val context = TaskContext.get()
    val isFirst = context == null || context.attemptNumber() == 0
    val reader = new ShardRangeReader(
      loan.value,
      options.fetch.reads,
      SystemClock,
      () => context != null && context.isInterrupted(),
      consumers.get(arn).filter(_ => isFirst),
      news
    )
    readers += reader
    reader
  }
}
