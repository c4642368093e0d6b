package sparkkinesis.spark.read

import java.time.Instant
import java.util.{Map => JMap, Optional}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.options.OptionException
import sparkkinesis.client.{KinesisClient, Loan, SystemChance, SystemClock}
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.{ConsumerClaims, OffsetCodec, QueryStream, QueryStreams}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.watch.{ExpiryWatch, StreamWatch, WatchService}
import sparkkinesis.source.{SourceException, StreamClient}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.once.TaskAttempts
import sparkkinesis.spark.read.checkpoint.InitialOffsetFile
import sparkkinesis.spark.read.realtime.{RealTimeBatches, RealTimeEnd, StreamReaderFactory}
import sparkkinesis.spark.read.task.FetchRun
import sparkkinesis.spark.realtime.RealTimeMode
import sparkkinesis.spark.stop.QueryStop

/**
 * The driver's side of the streaming source, as Spark calls it from the query's thread.
 *
 * It only connects: [[BatchEndFinder]] finds the end of a batch, [[PlannedBatch]] has its tasks,
 * [[QueryStreams]] checks the streams of the checkpoint, and [[ReadAhead]] talks to the executors.
 *
 * Where Spark has real-time mode, a subclass has the interface of that mode. Its methods are here,
 * because both modes have nearly everything in common: [[RealTimeBatches]] has the difference.
 */
class KinesisMicroBatchStream(options: SourceOptions, checkpointLocation: String)
    extends MicroBatchStream
    with SupportsTriggerAvailableNow
    with ReportsSourceMetrics {
  private val log = LoggerFactory.getLogger(classOf[KinesisMicroBatchStream])
  private val context = SparkContext.getOrCreate()
  private val gate = QueryStop.gate()
  private var loans = Seq.empty[Loan[KinesisClient]]
  // The constructor borrows nothing: Spark does not stop this source if another one fails.
  private lazy val named = {
    loans = ClientPool.shared.borrowAll(options.streams.map(_.client))
    options.streams.zip(loans).map { case (access, loan) =>
      val start = options.queryStart(access.ref)
      new QueryStream(access, loan.value, start, SystemClock, SystemChance)
    }
  }
  private lazy val streams = new QueryStreams(options, named)
  private var stopAtMillis = Option.empty[Long]
  private var claim = Option.empty[AutoCloseable] // of the consumers
  private lazy val run = {
    val id = s"spark-kinesis-${java.util.UUID.randomUUID}"
    val consumers = streams.consumers
    claim = Some(ConsumerClaims.claim(consumers.values.toSeq, id))
    FetchRun(
      id,
      options.copy(fetch = options.fetch.copy(stopAtMillis = stopAtMillis)),
      streams.access,
      streams.retention,
      consumers
    )
  }
  private var reading = Option.empty[ReadAhead]
  private var isRealTime = false
  private var mark = Option.empty[AutoCloseable] // that the query is in real-time mode
  private var batches = Option.empty[RealTimeBatches] // in real-time mode
  private var watching = Option.empty[WatchService]
  private lazy val endFinder = new BatchEndFinder(
    ahead,
    streams,
    watch,
    options.fetch.maxShardSkew,
    stopAtMillis.nonEmpty,
    readFrom
  )
  @volatile private var unread: () => Map[StreamShard, Instant] = () => Map.empty
  private lazy val expiry = new ExpiryWatch(
    named.map(it =>
      ExpiryWatch.Stream(it.arn, it.client.ref, it.client.client, it.retention, () => it.now)
    ),
    SystemClock,
    () => unread(),
    log.warn(_)
  )
  private val recent = new RecentOffsets
  private lazy val initial = {
    val file = new InitialOffsetFile(new Path(checkpointLocation), context.hadoopConfiguration)
    KinesisOffset(file.readOrWrite(streams.firstOffset()))
  }
  private lazy val batch = new PlannedBatch(streams, ahead)

  override def initialOffset(): Offset = ConnectorError.translating(initial)

  /** Spark calls this before every poll, a hundred times per second. */
  override def deserializeOffset(json: String): Offset = ConnectorError.translating {
    recent.of(json)
  }

  override def getDefaultReadLimit: ReadLimit = TriggerLimits.toSpark(options.fetch.limits)

  /**
   * The query reads all records that have arrived by now, and some that arrive up to a second
   * later, in as many batches as the limits need.
   */
  override def prepareForTriggerAvailableNow(): Unit = ConnectorError.translating {
    stopAtMillis = Some(streams.stopTime().toEpochMilli)
  }

  /**
   * The end of the next batch. In real-time mode Spark calls this once per batch and does not use
   * the result, because only the tasks know where a batch ends.
   */
  override def latestOffset(start: Offset, limit: ReadLimit): Offset =
    if (isRealTime) start else ConnectorError.translating(endOfBatch(start, limit))

  private def endOfBatch(start: Offset, limit: ReadLimit): Offset = {
    gate.pass()
    val limits = TriggerLimits.of(limit)
    val from = offsetOf(start)
    streams.check(from)
    readFrom(streams.withoutRemoved(from))
    val end = endFinder.of(from, limits)
    gate.pass() // finding the end may take seconds
    if (end eq from) start else recent.keep(KinesisOffset(end))
  }

  /**
   * How far executors have read ahead: Spark shows it in the query's progress. Calls no service.
   */
  override def reportLatestOffset(): Offset = reading.flatMap(_ => endFinder.latest).orNull

  /** Executors read ahead from there. */
  private def readFrom(from: SourceOffset): Unit = {
    watch.advance(from)
    explained(from) {
      val tip = streams.withoutReportedLoss(from)
      ahead.advance(tip, tip)
      ahead.ensureServices()
      ahead.checkFailure()
    }
  }

  /**
   * Prefers the error that the stream was deleted or created again, because it explains the
   * failure.
   */
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
      "Spark calls latestOffset(Offset, ReadLimit) of this source."
    )

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    ConnectorError.translating(batch.partitions(offsetOf(start), offsetOf(end)).toArray)

  /** The query runs in real-time mode. Called before everything else. */
  protected final def prepareRealTime(): Unit = ConnectorError.translating {
    options.onlyInMicroBatches.headOption.foreach { name =>
      throw OptionException.conflicting(
        s"Option '$name' applies to micro-batches, and this query of ${options.names} runs in " +
          "real-time mode, in which batches are not planned. Remove the option, or use another " +
          "trigger."
      )
    }
    if (TaskAttempts.areCopied())
      throw OptionException.conflicting(
        s"The query of ${options.names} runs in real-time mode, and spark.speculation is true: a " +
          "copy of a task would read its rows again. Set spark.speculation to false, or use " +
          "another trigger."
      )
    isRealTime = true
    mark = Some(RealTimeMode.begin(context))
  }

  /**
   * Plans a batch in real-time mode. Reading begins at `start`, and Spark does not say where it
   * ends.
   */
  def planInputPartitions(start: Offset): Array[InputPartition] = ConnectorError.translating {
    gate.pass()
    val from = offsetOf(start)
    streams.check(from)
    val kept = streams.withoutRemoved(from)
    watch.advance(kept)
    explained(kept)(realTime.checkFailure())
    val hasJoined = streams.withJoined(kept) ne kept
    realTime.partitions(streams.withoutReportedLoss(kept), endsAtOnce = hasJoined).toArray
  }

  /** The end of a batch in real-time mode, from the ends of its tasks. */
  def mergeOffsets(ends: Array[PartitionOffset]): Offset = ConnectorError.translating {
    val read = ends.toSeq.collect { case own: RealTimeEnd => own }
    val end = realTime.merge(read, streams.withJoined(_), streams.confirmationPeriod)
    recent.keep(KinesisOffset(watch.repair(end)))
  }

  override def createReaderFactory(): PartitionReaderFactory = StreamReaderFactory(run)

  /** Spark calls this when the next trigger fires. `metrics` has come earlier. */
  override def commit(end: Offset): Unit = ConnectorError.translating {
    if (batch.endsAt(offsetOf(end))) batch.release()
  }

  override def stop(): Unit =
    try {
      watching.foreach(_.close())
      reading.foreach(_.stop())
      batches.foreach(_.close())
    } finally {
      mark.foreach(_.close())
      claim.foreach(_.close())
      loans.foreach(_.close())
    }

  /**
   * Spark calls this on the query's thread when a batch is done, long before an interval's next
   * trigger.
   */
  override def metrics(latestConsumedOffset: Optional[Offset]): JMap[String, String] = {
    def lost = streams.lostRanges + watch.lostRanges
    def toExpiry = expiry.soonest.map(_.left)
    val all = reading.map { ahead =>
      batch.release()
      ahead.metrics(lost, watch.failedListings, toExpiry)
    } ++ batches.map { live =>
      val offset =
        latestConsumedOffset.map[SourceOffset](offsetOf(_)).orElseGet(() => initial.offset)
      live.metrics(offset, lost, watch.failedListings, toExpiry)
    }
    all.headOption.getOrElse(Map.empty[String, String]).asJava
  }

  override def toString: String = s"Kinesis[${options.names}]"

  private def streamWatch(stream: StreamClient) =
    new StreamWatch(stream, options.failOnDataLoss, options.discoveryInterval, SystemChance)

  private def watch: WatchService = watching.getOrElse {
    val watches = named.map(stream => stream.arn -> streamWatch(stream.client))
    val first = new WatchService(watches.toMap, SystemClock, () => expiry.look())
    watching = Some(first)
    first
  }

  private def realTime: RealTimeBatches = batches.getOrElse {
    val first = new RealTimeBatches(context, run, () => gate.isClosing || watch.hasFailed)
    batches = Some(first)
    unread = () => first.unread
    first
  }

  private def ahead: ReadAhead = reading.getOrElse {
    val first = new ReadAhead(context, run)
    reading = Some(first)
    unread = () => first.unread
    first
  }

  private def offsetOf(offset: Offset) = offset match {
    case KinesisOffset(own) => own
    case other => OffsetCodec.decode(other.json)
  }
}
