package sparkkinesis.spark.read

import java.util.{Map => JMap, Optional}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.SparkContext
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}

import sparkkinesis.client.SystemClock
import sparkkinesis.client.aws.{ClientPool, Lease}
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.{OffsetCodec, QueryStreams, StreamCheck}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.watch.{StreamWatch, WatchService}
import sparkkinesis.source.{SourceException, StreamClient}
import sparkkinesis.spark.errors.ConnectorError

/**
 * The streaming source's driver side, as Spark calls it. Decides nothing: where a batch ends is
 * [[BatchEndFinder]]'s, what it reads [[BatchPlanner]]'s, reading ahead the executors', keeping
 * count of all of it [[FetchCoordinator]]'s.
 */
final class KinesisMicroBatchStream(options: SourceOptions, checkpointLocation: String)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow
    with ReportsSourceMetrics {
  import KinesisMicroBatchStream._

  private val context = SparkContext.getOrCreate()
  private val leases: Seq[Lease] =
    ClientPool.shared.borrowAll(options.streams.map(_.client))
  private val checked = options.streams.zip(leases).map { case (access, lease) =>
    access -> checkedStream(StreamClient(access.ref, lease.client))
  }
  private val streams = new QueryStreams(options, checked)
  private var stopAtMillis = Option.empty[Long]
  private lazy val run = FetchRun(
    s"spark-kinesis-${java.util.UUID.randomUUID}",
    options.copy(fetch = options.fetch.copy(stopAtMillis = stopAtMillis)),
    streams.access
  )
  private var begun = Option.empty[ReadAhead]
  private var watching = Option.empty[WatchService]
  private lazy val nextEnd = new BatchEndFinder(ahead, streams, watch, stopAtMillis, begin)
  private var planned = Option.empty[Plan]
  private var handed = Vector.empty[KinesisOffset] // the newest first

  private lazy val initial: KinesisOffset = {
    val file = new InitialOffsetFile(new Path(checkpointLocation), context.hadoopConfiguration)
    KinesisOffset(file.readOrWrite(streams.begin()))
  }

  override def initialOffset(): Offset = ConnectorError.translating(initial)

  /** Spark asks before every poll, a hundred times a second. */
  override def deserializeOffset(json: String): Offset = ConnectorError.translating {
    handed.find(_.json == json).getOrElse(hand(KinesisOffset(OffsetCodec.decode(json))))
  }

  /** The very object that Spark was given before need not be planned over again. */
  private def hand(offset: KinesisOffset): KinesisOffset = {
    handed = (offset +: handed).take(HandedOffsets)
    offset
  }

  override def getDefaultReadLimit: ReadLimit = TriggerLimits.toSpark(options.fetch.limits)

  /** All that has arrived by now will be read, in as many batches as the limits ask for. */
  override def prepareForTriggerAvailableNow(): Unit = ConnectorError.translating {
    stopAtMillis = Some(streams.now().toEpochMilli)
  }

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = ConnectorError.translating {
    val limits = TriggerLimits.of(limit)
    val from = offsetOf(start)
    streams.check(from)
    begin(streams.kept(from))
    val end = nextEnd.of(from, limits)
    if (end eq from) start else hand(KinesisOffset(end))
  }

  /** Reads ahead from there. */
  private def begin(from: SourceOffset): Unit = {
    watch.advance(from)
    explained(from)(ahead.begin(streams.told(from)))
  }

  /** A stream that was deleted, or made again, explains a failure better. */
  private def explained[A](from: SourceOffset)(reading: => A): A =
    try reading
    catch {
      case e: ConnectorError =>
        try watch.explain(from)
        catch {
          case better: SourceException => throw better
          case NonFatal(other) => e.addSuppressed(other)
        }
        throw e
    }

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException(
      "Spark asks latestOffset(Offset, ReadLimit) of this source."
    )

  /** Spark asks more than once for a batch: what was known of its ranges is known before it is planned. */
  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    ConnectorError.translating {
      val (from, upTo) = (offsetOf(start), offsetOf(end))
      if (!planned.exists(_.isOf(from, upTo))) planned = Some(Plan(from, upTo, plan(from, upTo)))
      planned.fold(Seq.empty[InputPartition])(_.partitions).toArray
    }

  private def plan(from: SourceOffset, upTo: SourceOffset): Seq[InputPartition] = {
    streams.check(from)
    streams.check(upTo)
    val partitions = ahead.partitions(BatchPlanner.ranges(from, upTo))
    ahead.planned(streams.told(streams.kept(from)), streams.told(streams.kept(upTo)))
    partitions
  }

  override def createReaderFactory(): PartitionReaderFactory = KinesisReaderFactory(run)

  /** Nothing to do: a batch's pages go when the next one begins. */
  override def commit(end: Offset): Unit = ()

  override def stop(): Unit =
    try {
      watching.foreach(_.close())
      begun.foreach(_.stop())
    } finally leases.foreach(_.close())

  override def metrics(latestConsumedOffset: Optional[Offset]): JMap[String, String] =
    begun
      .fold(Map.empty[String, String]) { ahead =>
        ahead.metrics(streams.lostRanges + watch.lostRanges, watch.failedListings)
      }
      .asJava

  override def toString: String = s"Kinesis[${options.names}]"

  private def checkedStream(stream: StreamClient) = new StreamCheck(
    stream,
    options.queryStart(stream.ref),
    options.failOnDataLoss,
    SystemClock,
    FetchRun.chance
  )

  private def streamWatch(stream: StreamClient) =
    new StreamWatch(stream, options.failOnDataLoss, options.discoveryInterval, FetchRun.chance)

  private def watch: WatchService = watching.getOrElse {
    val watches = checked.map { case (_, known) => known.arn -> streamWatch(known.stream) }
    val first = new WatchService(watches.toMap, SystemClock)
    watching = Some(first)
    first
  }

  private def ahead: ReadAhead = begun.getOrElse {
    val first = new ReadAhead(context, run)
    begun = Some(first)
    first
  }

  private def offsetOf(offset: Offset) = offset match {
    case KinesisOffset(own) => own
    case other => OffsetCodec.decode(other.json)
  }
}

object KinesisMicroBatchStream {

  /** A batch's start and end, and the one before. */
  private val HandedOffsets = 3

  /** The tasks of a batch. */
  private final case class Plan(
      from: SourceOffset,
      upTo: SourceOffset,
      partitions: Seq[InputPartition]
  ) {
    def isOf(otherFrom: SourceOffset, otherUpTo: SourceOffset): Boolean =
      from == otherFrom && upTo == otherUpTo
  }
}
