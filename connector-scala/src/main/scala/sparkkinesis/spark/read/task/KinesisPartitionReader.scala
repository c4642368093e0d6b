package sparkkinesis.spark.read.task

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.duration._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}

import sparkkinesis.client.{Loan, StreamAccess, SystemClock}
import sparkkinesis.model.{ConsumerArn, PackedRecords, StreamArn, StreamShard}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.feed.FeedNews
import sparkkinesis.source.fetch.FetchService
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.replay.{DescendantReader, RangeTurns, ShardRangeReader}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.{ReadCounts, ReadMetrics}

final case class KinesisReaderFactory(run: QueryRun) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case KinesisInputPartition(ranges, _) =>
        val ahead = Some(FetchServices.ensure(run))
        val row = new RecordRow(run.options.deaggregate)
        new KinesisPartitionReader(run.options, run.streams, ranges.map(_ -> row), ahead, Map.empty)
      case other =>
        throw new IllegalArgumentException(s"Not a partition of the Kinesis source: $other")
    }
}

/**
 * Creates the readers of a batch read, which do not read ahead.
 *
 * @param consumers of enhanced fan-out; none of a stream that is polled
 */
final case class KinesisBatchReaderFactory(
    options: SourceOptions,
    streams: Map[StreamArn, StreamAccess],
    consumers: Map[StreamArn, ConsumerArn]
) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    partition match {
      case KinesisInputPartition(ranges, _) =>
        val row = new RecordRow(options.deaggregate)
        new KinesisPartitionReader(options, streams, ranges.map(_ -> row), None, consumers)
      case other =>
        throw new IllegalArgumentException(s"Not a partition of the Kinesis source: $other")
    }
}

/**
 * Reads exactly the records of its ranges, in a task. Takes them from the pages that this executor
 * has read ahead, or from Kinesis if the executor does not hold those pages. In order per range.
 *
 * @param ranges at least one, and the row that moves over the records of each
 * @param ahead the executor's fetch service; none in a batch read
 * @param consumers by which the first attempt of a batch read reads: a second subscription would
 *   end the one of an attempt that still runs
 */
final class KinesisPartitionReader(
    options: SourceOptions,
    streams: Map[StreamArn, StreamAccess],
    ranges: Seq[(ShardRange, InternalRow with PageRow)],
    ahead: Option[FetchService],
    consumers: Map[StreamArn, ConsumerArn]
) extends PartitionReader[InternalRow] {
  private val loans = mutable.Map.empty[StreamArn, Loan[StreamClient]]
  private val news = new FeedNews
  private var readRecords = 0L
  private var readBytes = 0L
  private val readers =
    mutable.Buffer.empty[ShardRangeReader] // for ranges that were not read ahead
  private val turns = new RangeTurns(ranges.map { case (range, row) => new Turn(range, row) })
  private var row = ranges.head._2 // of the last page

  override def next(): Boolean = row.next() || ConnectorError.translating(nextPage())

  override def get(): InternalRow = row

  @tailrec private def nextPage(): Boolean = turns.next() match {
    case Some((turn, (shard, records))) =>
      row = turn.row
      readRecords += records.size
      readBytes += records.dataBytes
      row.read(shard, records)
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

  private final class Turn(range: ShardRange, val row: InternalRow with PageRow)
      extends RangeTurns.Turn {
    private var reader = Option.empty[ShardRangeReader] // of pages that are not in the store

    override def pause: FiniteDuration = reader.fold[FiniteDuration](Duration.Zero)(_.pause)

    override lazy val pages: Iterator[(StreamShard, PackedRecords)] =
      ahead.flatMap(_.store.parts(range)) match {
        case Some(parts) =>
          parts.iterator.flatMap { part =>
            part.records.map(range.shard -> _).fold(fromKinesis(part.range))(Iterator.single)
          }
        case None => fromKinesis(range)
      }

    private def fromKinesis(missing: ShardRange): Iterator[(StreamShard, PackedRecords)] = {
      ahead.foreach(_.countReread())
      val opened = newReader(range.shard.stream)
      reader = Some(opened)
      new DescendantReader(opened).pages(missing)
    }
  }

  private def newReader(arn: StreamArn): ShardRangeReader = {
    val loan = loans.getOrElseUpdate(arn, StreamLoans.borrow(arn, streams(arn)))
    val context = TaskContext.get()
    val isFirst = context == null || context.attemptNumber() == 0
    val reader = new ShardRangeReader(
      loan.value,
      options.fetch,
      SystemClock,
      () => SystemClock.chance(),
      () => context != null && context.isInterrupted(),
      consumers.get(arn).filter(_ => isFirst),
      news
    )
    readers += reader
    reader
  }
}
