package sparkkinesis.spark

import java.util.{Map => JMap, Optional}

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path

import org.apache.spark.SparkContext
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}

import sparkkinesis.client.SystemClock
import sparkkinesis.client.aws.{ClientPool, Lease}
import sparkkinesis.model.{ShardId, StreamOffset}
import sparkkinesis.source._

/**
 * The streaming source's driver side. Decides nothing: planning is [[BatchPlanner]]'s, reading ahead the
 * executors', keeping count of both [[FetchCoordinator]]'s.
 */
final class KinesisMicroBatchStream(options: SourceOptions, checkpointLocation: String)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow
    with ReportsSourceMetrics {
  import KinesisMicroBatchStream._

  private val context = SparkContext.getOrCreate()
  private val lease: Lease = ClientPool.shared.borrow(options.client)
  private val stream = new CheckedStream(options, lease.client, SystemClock, FetchRun.chance)
  private var stopAtMillis = Option.empty[Long]
  private lazy val run = FetchRun(
    s"spark-kinesis-${java.util.UUID.randomUUID}",
    options.copy(fetch = options.fetch.copy(stopAtMillis = stopAtMillis))
  )
  private var begun = Option.empty[ReadAhead]

  private lazy val initial: KinesisOffset = {
    val file = new InitialOffsetFile(new Path(checkpointLocation), context.hadoopConfiguration)
    KinesisOffset(file.readOrWrite(stream.begin()))
  }

  override def initialOffset(): Offset = ConnectorError.translating(initial)

  override def deserializeOffset(json: String): Offset =
    ConnectorError.translating(KinesisOffset(OffsetCodec.decode(json)))

  override def getDefaultReadLimit: ReadLimit = {
    val limits = options.fetch.limits
    val each = limits.maxRecords.map(ReadLimit.maxRows) ++ limits.maxBytes.map(ReadLimit.maxBytes)
    each.toArray match {
      case Array() => ReadLimit.allAvailable()
      case Array(one) => one
      case several => ReadLimit.compositeLimit(several)
    }
  }

  /** All that has arrived by now will be read, in as many batches as the limits ask for. */
  override def prepareForTriggerAvailableNow(): Unit = ConnectorError.translating {
    stopAtMillis = Some(stream.now().toEpochMilli)
  }

  override def latestOffset(start: Offset, limit: ReadLimit): Offset = ConnectorError.translating {
    val from = offsetOf(start)
    stream.check(from)
    ahead.begin(from)
    val limits = limitsOf(limit)
    val frontiers = ahead.frontiers(limits)
    val end = stopAtMillis match {
      case None => nextEnd(from, limits, frontiers)
      case Some(millis) => nextEndBefore(millis, from, limits, frontiers)
    }
    if (end eq from) start else KinesisOffset(end)
  }

  private def nextEnd(
      from: StreamOffset,
      limits: ReadLimits,
      frontiers: Map[ShardId, Frontier]
  ): StreamOffset = {
    val end = BatchPlanner.end(from, frontiers, limits)
    if (end eq from) BatchPlanner.confirmed(from, frontiers, stream.confirmationPeriod) else end
  }

  /** Spark ends the query at the first answer without news: this one waits for what is on its way. */
  @tailrec
  private def nextEndBefore(
      millis: Long,
      from: StreamOffset,
      limits: ReadLimits,
      frontiers: Map[ShardId, Frontier]
  ): StreamOffset = {
    val due = frontiers.map { case (id, frontier) => id -> frontier.until(millis) }
    val end = BatchPlanner.end(from, due, limits)
    if (end ne from) end
    else if (BatchPlanner.isDone(from, frontiers, millis))
      BatchPlanner.confirmed(from, due, stream.confirmationPeriod)
    else {
      ahead.awaitNews()
      ahead.begin(from)
      nextEndBefore(millis, from, limits, ahead.frontiers)
    }
  }

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException(
      "Spark asks latestOffset(Offset, ReadLimit) of this source."
    )

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    ConnectorError.translating {
      val (from, upTo) = (offsetOf(start), offsetOf(end))
      stream.check(from)
      val partitions = ahead.partitions(BatchPlanner.ranges(from, upTo))
      ahead.planned(from, upTo)
      partitions.toArray
    }

  override def createReaderFactory(): PartitionReaderFactory = KinesisReaderFactory(run)

  /** Nothing to do: a batch's pages go when the next one begins. */
  override def commit(end: Offset): Unit = ()

  override def stop(): Unit =
    try begun.foreach(_.stop())
    finally lease.close()

  override def metrics(latestConsumedOffset: Optional[Offset]): JMap[String, String] =
    begun.fold(Map.empty[String, String])(_.metrics).asJava

  override def toString: String = s"Kinesis[${options.stream}]"

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

  private def limitsOf(limit: ReadLimit): ReadLimits = limit match {
    case rows: ReadMaxRows => ReadLimits(Some(rows.maxRows), None)
    case bytes: ReadMaxBytes => ReadLimits(None, Some(bytes.maxBytes))
    case several: CompositeReadLimit =>
      several.getReadLimits.map(limitsOf).foldLeft(ReadLimits.None) { (all, one) =>
        ReadLimits(one.maxRecords.orElse(all.maxRecords), one.maxBytes.orElse(all.maxBytes))
      }
    case _ => ReadLimits.None
  }
}
