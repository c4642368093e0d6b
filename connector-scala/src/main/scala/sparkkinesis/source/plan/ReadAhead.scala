package sparkkinesis.source.plan

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.model.{StreamArn, StreamShard}
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.protocol._

/**
 * Decides which executor reads which shard ahead, and knows how far they have read. Runs on the
 * driver, on one thread at a time.
 *
 * A shard stays with its executor until the executor is lost, a report is missing, or an executor
 * joins and gets its share. The reports of executors matter for speed only: tasks read a planned
 * range again from Kinesis if its pages are gone.
 *
 * @param distance between marks, if there are very many
 */
private[sparkkinesis] final class ReadAhead(
    executors: ExecutorTable,
    distance: ReadLimits = ReadLimits.None
) {
  import ReadAhead._

  private var batchStart: Option[SourceOffset] = None // of the last planned batch
  private var batchEnd: Option[SourceOffset] = None
  private var processed: Map[StreamShard, Progress] = Map.empty // progress at `batchStart`
  private var ended: Map[StreamShard, Progress] = Map.empty // of processed shards without a reader
  private var running: Map[StreamShard, Long] = Map.empty // see `waiting`, of the running batch
  private var nextEnd: Map[StreamShard, Progress] = Map.empty // of the batch that was found last
  private var reading = ReadingShards.Empty
  private var closedShards = 0L
  private var version = 0L
  private var isUneven = false // an executor has joined
  private var idleSince = Map.empty[String, Long] // executors that are not needed, by the tick
  private var closed = Set.empty[StreamShard] // listed as closed

  /**
   * Moves on after a batch is planned: executors read ahead from `end`, and may drop pages before
   * `start`.
   */
  def advance(start: SourceOffset, end: SourceOffset): Unit =
    if (!batchEnd.contains(end) || !batchStart.contains(start)) move(start, end)

  private def move(start: SourceOffset, end: SourceOffset): Unit = {
    closedShards += ShardCounts.closedBetween(batchEnd.getOrElse(start), end)
    running = if (start == end) Map.empty else arrivals(start, end)
    batchStart = Some(start)
    batchEnd = Some(end)
    processed = start.progress
    reading = reading.movedTo(end.readable, end.shard(_).flatMap(_.completeAsOf))
    ended = processed -- reading.shards.keySet
    version += 1
    assign()
  }

  /** Of each shard that the batch reads: when its first record arrived, or a time before. */
  private def arrivals(start: SourceOffset, end: SourceOffset): Map[StreamShard, Long] =
    for ((id, from) <- start.readable if !end.readable.get(id).contains(from)) yield {
      val read = reading.shards.get(id).filter(_.from == from)
      val known = read.flatMap(_.frontier).flatMap(_.firstArrivalMillis).filter(_ > 0)
      // An idle query seldom logs how far it is complete.
      val complete = read.flatMap(_.completeAsOf) ++ start.shard(id).flatMap(_.completeAsOf)
      id -> known.orElse(complete.map(_.toEpochMilli).maxOption).getOrElse(0L)
    }

  /** A batch will be planned that ends there: its end must stay a mark. */
  def foundEnd(end: SourceOffset): Unit = nextEnd = end.progress

  /** Answers a heartbeat. */
  def heard(status: Heartbeat): HeartbeatReply = {
    val isNew = !executors.live(status.executor)
    if (executors.heard(status)) {
      isUneven ||= isNew
      received(status)
      val isSpare = isIdleForLong(status)
      if (isSpare) executors.lose(status.executor)
      val isStopped = isSpare || executors.isStopped
      val plan = Option.when(!isSpare && status.knownVersion != version)(
        reading.plan(status.executor, processed, ended, closed)
      )
      HeartbeatReply(version, isStopped, plan)
    } else HeartbeatReply(version, isStopped = true, None)
  }

  /**
   * Whether the executor has had neither a shard nor a page for long, and others read all shards.
   * Each executor on which a task runs has a service, so a query with few shards would have many.
   */
  private def isIdleForLong(status: Heartbeat): Boolean = {
    val isIdle = !reading.owned.contains(status.executor) && status.counters.bufferedBytes == 0 &&
      status.counters.spilledBytes == 0 && executors.live.size > reading.shards.size
    val known = idleSince.get(status.executor).filter(_ => status.knownVersion != 0)
    val since = Option.when(isIdle)(known.getOrElse(executors.ticks))
    idleSince = idleSince - status.executor ++ since.map(status.executor -> _)
    val isLong = since.exists(it => ExecutorTable.Tick * (executors.ticks - it) >= MostIdle)
    if (isLong) idleSince -= status.executor
    isLong
  }

  private def received(status: Heartbeat): Unit = {
    // A service that knows no plan is new. The pages of an earlier one on this executor are gone.
    if (status.knownVersion == 0) reading = reading.without(Set(status.executor))
    status.failure.filter(reading.isOf(status.executor, _)).foreach(executors.fails)
    reading = status.reports.foldLeft(reading) { (all, report) =>
      all.reported(status.executor, report, distance, nextEnd.get(report.shard))
    }
    status.reports.foreach(report => executors.heardOf(report.shard))
    assign()
  }

  /** These shards are listed as closed. */
  def foundClosed(shards: Set[StreamShard]): Unit = {
    if (shards.diff(closed).exists(reading.shards.contains)) version += 1
    closed = shards
  }

  /** Assigns the shards of these executors to others. */
  def reassign(gone: Set[String]): Unit = if (gone.nonEmpty) {
    reading = reading.without(gone)
    idleSince --= gone
    assign()
  }

  private def assign(): Unit = {
    val before = reading.generations
    // The pages of a running batch stay where its tasks look for them.
    if (isUneven && batchStart == batchEnd) {
      reading = reading.balanced(executors.live.size)
      isUneven = false
    }
    reading = reading.assigned(executors.live)
    if (reading.generations != before) version += 1
  }

  /** What executors have read after the end of the last planned batch. */
  def found: Found = reading.found

  /** See [[Found.frontiers]]. */
  def frontiers: Map[StreamShard, Frontier] = found.frontiers

  /** The host and the executor that have the pages of a shard. */
  def location(shard: StreamShard): Option[(String, String)] =
    for {
      state <- reading.shards.get(shard)
      id <- state.executor
      host <- executors.host(id)
    } yield (host, id)

  /** The ranges with the location and the marks of their pages. */
  def located(ranges: Vector[ShardRange]): Vector[LocatedRange[(String, String)]] =
    ranges.map { range =>
      val marks = reading.shards.get(range.shard).fold(Vector.empty[Mark])(_.marksOf(range))
      LocatedRange(range, location(range.shard), marks)
    }

  /** Number of shards that are read ahead, or wait for an executor. */
  def readable: Int = reading.shards.size

  /** See [[UnreadSince]]. */
  def unread: Map[StreamShard, Instant] =
    batchStart.fold(Map.empty[StreamShard, Instant]) { start =>
      UnreadSince.of(start, frontiers -- running.keys)
    }

  /** The time since the last page of each shard, perhaps an empty one. */
  def silences: Map[StreamShard, FiniteDuration] = executors.silences(reading.shards.keySet)

  /** See [[ProcessingLag]]. */
  def lags(
      silences: Map[StreamShard, FiniteDuration],
      pause: FiniteDuration,
      now: Map[StreamArn, Instant]
  ): Map[StreamShard, Long] =
    ProcessingLag.of(
      reading.shards.keySet ++ running.keySet,
      frontiers,
      waiting,
      reading.shards.get(_).flatMap(_.provenCompleteAsOf),
      silences,
      pause,
      now
    )

  private def waiting: Map[StreamShard, Long] = {
    val ahead =
      for (id <- found.fresh.iterator; first <- frontiers(id).firstArrivalMillis)
        yield id -> first
    ahead.toMap ++ running
  }

  def shardCounts: ShardCounts =
    batchEnd.fold(ShardCounts.Zero)(ShardCounts.of(_, frontiers, closedShards))

  /** Each executor gets an answer of a new version. */
  def changed(): Unit = version += 1

  /**
   * Whether executors have read a page of every readable shard, or a record of any.
   *
   * @param ofAll whether a record of any shard is not enough
   */
  def hasFirstLook(ofAll: Boolean): Boolean = batchEnd.exists { offset =>
    def looks = offset.readable.keysIterator.map(id => reading.shards.get(id).flatMap(_.frontier))
    looks.forall(_.nonEmpty) || !ofAll && looks.exists(_.exists(_.marks.nonEmpty))
  }
}

private object ReadAhead {

  /** The time after which a service without a shard ends. */
  private val MostIdle = 1.minute
}
