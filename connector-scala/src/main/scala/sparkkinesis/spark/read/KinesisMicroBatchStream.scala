package sparkkinesis.spark.read

import java.util.concurrent.ConcurrentHashMap
import java.util.{Collections, Map => JMap, Optional}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.{CurrentQuery, Executors}
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}

import sparkkinesis.client._
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.options.OptionException
import sparkkinesis.compat._
import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.{ConsumerClaims, OffsetCodec, QueryStream}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan.ExecutorTable
import sparkkinesis.source.query.{MicroBatchQuery, QueryStreams, RealTimeQuery, SourceQuery}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.{LiveSources, RowDelays, SourceProgress}
import sparkkinesis.spark.once.TaskAttempts
import sparkkinesis.spark.read.checkpoint.{InitialOffsetFile, SessionFiles}
import sparkkinesis.spark.read.realtime.{RealTimeEnd, RealTimePartition, StreamReaderFactory}
import sparkkinesis.spark.read.task.{KinesisInputPartition, QueryRun}
import sparkkinesis.spark.realtime.RealTimeMode
import sparkkinesis.spark.stop.QueryStop

/**
 * The streaming source as Spark calls it from the query's thread, on the driver.
 *
 * It only connects: [[MicroBatchQuery]] or [[RealTimeQuery]] decides, and [[SourceService]] carries
 * out what they want.
 *
 * Where Spark has real-time mode, a subclass has the interface of that mode. Its methods are here,
 * because both modes have nearly everything in common.
 */
private[sparkkinesis] class KinesisMicroBatchStream(
    options: SourceOptions,
    checkpointLocation: String
) extends MicroBatchStream
    with SupportsTriggerAvailableNow
    with ReportsSourceMetrics {
  import KinesisMicroBatchStream._

  private val log = LoggerFactory.getLogger(classOf[KinesisMicroBatchStream])
  private val context = SparkContext.getOrCreate()
  private val gate = QueryStop.gate()
  private val siblings = new Siblings(context)
  // The folder of a source in the checkpoint has its number in the query.
  private val number = new Path(checkpointLocation).getName.toIntOption.getOrElse(0)
  private var loans = Seq.empty[Loan[KinesisClient]]
  // The constructor borrows nothing: Spark does not stop this source if another one fails.
  private lazy val named = {
    loans = ClientPool.shared.borrowAll(options.streams.map(_.client))
    options.streams.zip(loans).map { case (access, loan) =>
      val start = options.queryStart(access.ref)
      new QueryStream(access, loan.value, start, SystemClock)
    }
  }
  private lazy val described = named.map(_.describe())
  private var isRealTime = false
  private var stopAtMillis = Option.empty[Long]
  private lazy val runOptions = {
    val ofRun = options.copy(fetch = options.fetch.copy(stopAtMillis = stopAtMillis))
    if (isRealTime) ofRun else ofRun.withWatermarks(delays)
  }

  /** How late the rows of the query may be. Known only to the thread of the query. */
  private def delays: Seq[FiniteDuration] = CurrentQuery.watermarkDelays().getOrElse {
    if (options.followsWatermark)
      log.warn(
        s"This Spark does not show the source of ${options.names} whether the query has a " +
          "watermark. If it has one, set option 'maxShardSkew' to half of its delay, so that no " +
          "row is late because its shard was behind. If not, set the option to none."
      )
    Nil
  }

  private lazy val streams = new QueryStreams(options, described, () => SystemClock.chance())
  private var opened = Seq.empty[AutoCloseable] // in the order in which they close
  private var isServing = false // whether the query has begun
  private lazy val microBatches =
    serving[MicroBatchQuery](new MicroBatchQuery(runOptions, streams))
  private lazy val realTime = {
    val patience = if (Executors.areDynamic(context)) StartPatience else RealTimeQuery.Patience
    val service =
      serving[RealTimeQuery](new RealTimeQuery(runOptions, streams, patience))
    val around = Timer.every(ExecutorTable.Tick)(() => lookAround())
    opened = Seq(around, siblings.join(() => service.look((it, _) => it.isEnding))) ++ opened
    service
  }
  private val recent = new RecentOffsets
  private lazy val rowDelays = RowDelays(context)
  private var latest = Option.empty[KinesisOffset]
  private var shown = Option.empty[Shown]
  private lazy val initial = {
    val file = new InitialOffsetFile(new Path(checkpointLocation), SessionFiles.conf())
    KinesisOffset(file.readOrWrite(SourceOffset.of(named.map(_.firstOffset()))))
  }

  private def serving[Q <: SourceQuery](query: Q): SourceService[Q] = {
    val byArn = described.map(_.arn).zip(named).toMap
    val service = new SourceService[Q](context, gate, query, byArn, newRun)
    def late() = SourceProgress.of(service.look((it, now) => it.lateness(now)))
    val run = CurrentQuery.run(context).getOrElse(toString)
    opened = service +: opened
    opened = LiveSources.join(run, number, () => late()) +: opened
    isServing = true
    service
  }

  private def newRun(access: Map[StreamArn, StreamAccess]): QueryRun = {
    val id = s"spark-kinesis-${java.util.UUID.randomUUID}"
    val consumers = for {
      (stream, known) <- named.zip(described)
      consumer <- stream.consumer(known.arn, options.consumer)
    } yield known.arn -> consumer
    opened = opened :+ ConsumerClaims.claim(consumers.map(_._2), id)
    QueryRun(id, runOptions, access, streams.retention, consumers.toMap)
  }

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
    stopAtMillis = Some(QueryStream.stopTime(named).toEpochMilli)
  }

  /**
   * The end of the next batch. In real-time mode Spark calls this once per batch and does not use
   * the result, because only the tasks know where a batch ends.
   */
  override def latestOffset(start: Offset, limit: ReadLimit): Offset =
    if (isRealTime) start
    else
      ConnectorError.translating {
        val (from, limits) = (offsetOf(start), TriggerLimits.of(limit))
        val end = microBatches.ask(_.asked(from, limits, _))
        if (end eq from) start else recent.keep(KinesisOffset(end))
      }

  /**
   * How far executors have read ahead: Spark shows it in the query's progress. Calls no service.
   */
  override def reportLatestOffset(): Offset =
    if (isRealTime || !isServing) null
    else {
      microBatches.look((it, _) => it.latest).foreach { end =>
        if (!latest.exists(_.offset eq end)) latest = Some(recent.shared(end))
      }
      latest.orNull
    }

  override def latestOffset(): Offset =
    throw new UnsupportedOperationException(
      "Spark calls latestOffset(Offset, ReadLimit) of this source."
    )

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
    ConnectorError.translating {
      val (from, upTo) = (offsetOf(start), offsetOf(end))
      val waitEnd = microBatches.lastWait
      val tasks = microBatches.tell(_.tasks(from, upTo, context.defaultParallelism, waitEnd, _))
      tasks.map { case (place, ranges) => KinesisInputPartition(ranges, locations(place)) }.toArray
    }

  /** In local mode there is only one place. */
  private def locations(place: Option[(String, String)]): Seq[String] =
    place.toSeq.filterNot(_ => context.isLocal).map { case (host, id) =>
      Executors.location(host, id)
    }

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
    opened = opened :+ RealTimeMode.begin(context)
  }

  /**
   * Plans a batch in real-time mode. Reading begins at `start`, and Spark does not say where it
   * ends.
   */
  def planInputPartitions(start: Offset): Array[InputPartition] = ConnectorError.translating {
    val from = offsetOf(start)
    lookAround()
    val batch = realTime.ask(_.began(from, _))
    batch.tasks.map { starts =>
      val place = realTime.look((it, _) => it.place(starts))
      RealTimePartition(batch.number, starts, locations(place))
    }.toArray
  }

  /** With dynamic allocation, Spark adds executors for tasks that wait. */
  private def lookAround(): Unit = if (!context.isStopped) {
    val slots = if (Executors.areDynamic(context)) Int.MaxValue else Executors.slots(context)
    val batch = realTime.look((it, _) => it.lastBatch)
    val isWanted = gate.isClosing || siblings.areEnding
    realTime.tell(_.around(slots, isWanted, batch, _))
  }

  /** The end of a batch in real-time mode, from the ends of its tasks. */
  def mergeOffsets(ends: Array[PartitionOffset]): Offset = ConnectorError.translating {
    val read = ends.toSeq.collect { case own: RealTimeEnd => own.end }
    recent.keep(KinesisOffset(realTime.tell(_.ended(read, _))))
  }

  override def createReaderFactory(): PartitionReaderFactory =
    StreamReaderFactory(if (isRealTime) realTime.run else microBatches.run, rowDelays)

  /** Spark calls this when the next trigger fires. `metrics` has come earlier. */
  override def commit(end: Offset): Unit = ConnectorError.translating {
    if (!isRealTime) microBatches.tell(_.committed(offsetOf(end), _))
  }

  override def stop(): Unit = {
    // What is not given back would refuse the next query.
    val failures = (opened ++ loans).flatMap(it => Try(it.close()).failed.toOption)
    failures.headOption.foreach(cause => throw cause)
  }

  /**
   * Spark calls this on the query's thread when a batch is done, long before an interval's next
   * trigger. It also calls this a hundred times per second while there is nothing to do, and shows
   * one answer in ten seconds. Without news, an answer is up to a second old, because it costs time
   * per shard. Only the latency is always new: Spark calls this once per trigger, so that the
   * progress of a batch has the latency of its records, and no other progress repeats it.
   */
  override def metrics(latestConsumedOffset: Optional[Offset]): JMap[String, String] =
    if (!isServing) Collections.emptyMap()
    else {
      val isNew = !isRealTime && microBatches.tell(_.done(_))
      if (isNew) shown = None
      val now = SystemClock.elapsedMillis
      val current = shown
        .filter(it => it.offset == latestConsumedOffset && now - it.since < ShownMillis)
        .getOrElse(Shown(latestConsumedOffset, progress(latestConsumedOffset), now))
      shown = Some(current)
      (current.progress ++ SourceProgress.of(rowDelays.news())).asJava
    }

  private def progress(latestConsumedOffset: Optional[Offset]): Map[String, String] = {
    val report =
      if (isRealTime) {
        val offset =
          latestConsumedOffset.map[SourceOffset](offsetOf(_)).orElseGet(() => initial.offset)
        realTime.look(_.report(offset, _))
      } else microBatches.look(_.report(_))
    SourceProgress.of(report)
  }

  override def toString: String = s"Kinesis[${options.names}]"

  private def offsetOf(offset: Offset) = offset match {
    case KinesisOffset(own) => own
    case other => OffsetCodec.decode(other.json)
  }
}

private object KinesisMicroBatchStream {

  /**
   * How long a shard may be without a task with dynamic allocation, until executors have started.
   */
  private val StartPatience = 60.seconds

  private val ShownMillis = 1000L

  /** What the query's progress showed last, and at which offset. */
  private final case class Shown(
      offset: Optional[Offset],
      progress: Map[String, String],
      since: Long
  )

  /** The sources in real-time mode of each query. */
  private val ofQuery = new ConcurrentHashMap[String, Set[Siblings]]()

  /** The sources of one query: Spark ends a batch when the tasks of all sources have ended. */
  private final class Siblings(context: SparkContext) {
    private lazy val query = CurrentQuery.run(context).getOrElse(toString)
    private var isEnding: () => Boolean = () => false

    /** @param ending whether this source ends its batch */
    def join(ending: () => Boolean): AutoCloseable = {
      isEnding = ending
      ofQuery.merge(query, Set(this), (all, more) => all ++ more)
      () =>
        ofQuery.computeIfPresent(
          query,
          (_, all) => Some(all - this).filter(_.nonEmpty).orNull
        ): Unit
    }

    /** Whether another source of the query ends its batch. */
    def areEnding: Boolean =
      ofQuery.getOrDefault(query, Set.empty).exists(it => (it ne this) && it.isEnding())
  }
}
