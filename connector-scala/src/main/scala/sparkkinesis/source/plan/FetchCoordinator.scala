package sparkkinesis.source.plan

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.source.protocol._

/**
 * Decides which executor reads which shard ahead, and knows how far they have read. Runs on the
 * driver. It has no threads, and receives the time of a clock that never jumps. It is safe for use
 * by many threads.
 *
 * A shard stays with its executor until the executor is lost, a report is missing, or an executor
 * joins and gets its share. The reports of executors matter for speed only: tasks read a planned
 * range again from Kinesis if its pages are gone.
 *
 * @param lease an executor without a heartbeat for this time loses its shards
 * @param distance between marks, if there are very many
 */
final class FetchCoordinator(lease: FiniteDuration, distance: ReadLimits = ReadLimits.None) {
  import FetchCoordinator._

  private val running = new RunningTime
  private var batchStart: Option[SourceOffset] = None // of the last planned batch
  private var batchEnd: Option[SourceOffset] = None
  private var processed: Map[StreamShard, Progress] = Map.empty // progress at `batchStart`
  private var executors: Map[String, Executor] = Map.empty
  private var nextEnd: Map[StreamShard, Progress] = Map.empty // of the batch that was found last
  private var reading = ReadingShards.Empty
  private var totals = FetchTotals.Zero
  private var recent = RecentFetches.Empty
  private val silence = new ShardSilence
  private var closedShards = 0L
  private var version = 0L
  private var isUneven = false // an executor has joined
  private var stopped = false
  private var stoppedExecutors: Set[String] = Set.empty // that know that the query has stopped
  private var failed: Option[FetchFailure] = None
  private var crashed: Option[String] = None

  /**
   * Moves on after a batch is planned: executors read ahead from `end`, and may drop pages before
   * `start`.
   */
  def advance(start: SourceOffset, end: SourceOffset, now: Instant): Unit = synchronized {
    val time = running.at(now)
    if (!batchEnd.contains(end) || !batchStart.contains(start)) move(start, end, time)
  }

  private def move(start: SourceOffset, end: SourceOffset, now: FiniteDuration): Unit = {
    closedShards += ShardCounts.closedBetween(batchEnd.getOrElse(start), end)
    batchStart = Some(start)
    batchEnd = Some(end)
    processed = start.progress
    reading = reading.movedTo(end.readable, end.shard(_).flatMap(_.completeAsOf))
    version += 1
    expire(now)
    assign()
    notifyAll()
  }

  /** A batch will be planned that ends there: its end must stay a mark. */
  def foundEnd(end: SourceOffset): Unit = synchronized { nextEnd = end.progress }

  /** An executor reports its pages and receives its assignments. */
  def heartbeat(status: FetchStatus, now: Instant): FetchReply = synchronized {
    val time = running.at(now)
    // Spark Connect gives a session another class loader from time to time, which starts another
    // service.
    val isReplaced = status.knownVersion > 0 &&
      executors.get(status.executor).exists(_.service != status.service)
    if (isReplaced) FetchReply(version, isStopped = true, None) else answer(status, time)
  }

  private def answer(status: FetchStatus, time: FiniteDuration): FetchReply = {
    isUneven ||= !executors.contains(status.executor)
    executors = executors.updated(status.executor, Executor.of(status, time))
    totals = totals.updated(status.executor, status.counters)
    // A service that knows no plan is new. The pages of an earlier one on this executor are gone.
    if (status.knownVersion == 0) reading = reading.without(Set(status.executor))
    failed = failed.orElse(status.failure.filter(reading.isOf(status.executor, _)))
    crashed = crashed.orElse(status.crash)
    reading = status.reports.foldLeft(reading) { (all, report) =>
      all.reported(status.executor, report, distance, nextEnd.get(report.shard))
    }
    status.reports.foreach(report => silence.reported(report.shard, time))
    expire(time)
    assign()
    if (stopped) stoppedExecutors += status.executor
    notifyAll()
    FetchReply(
      version,
      stopped,
      if (status.knownVersion == version) None else Some(reading.plan(status.executor, processed))
    )
  }

  /** Assigns the executor's shards to others at once. */
  def executorLost(executor: String, now: Instant): Unit = synchronized {
    lose(Set(executor))
    expire(running.at(now))
    assign()
  }

  private def expire(now: FiniteDuration): Unit = {
    val silent = executors.collect {
      case (id, executor) if now > executor.lastHeartbeat + lease => id
    }.toSet
    if (silent.nonEmpty) lose(silent)
  }

  private def lose(gone: Set[String]): Unit = {
    executors --= gone
    reading = reading.without(gone)
  }

  private def assign(): Unit = {
    val before = reading.generations
    // The pages of a running batch stay where its tasks look for them.
    if (isUneven && batchStart == batchEnd) {
      reading = reading.balanced(executors.size)
      isUneven = false
    }
    reading = reading.assigned(executors.keySet)
    if (reading.generations != before) version += 1
  }

  /** What executors have read after the end of the last planned batch. */
  def frontiers: Map[StreamShard, Frontier] = synchronized(reading.frontiers)

  /** The host and the executor that have the pages of a shard. */
  def location(shard: StreamShard): Option[(String, String)] = synchronized {
    for {
      state <- reading.shards.get(shard)
      id <- state.executor
      executor <- executors.get(id)
    } yield (executor.host, id)
  }

  /** The ranges with the location and the marks of their pages. */
  def located(ranges: Vector[ShardRange]): Vector[LocatedRange[(String, String)]] = synchronized {
    ranges.map { range =>
      val marks = reading.shards.get(range.shard).fold(Vector.empty[Mark])(_.marksOf(range))
      LocatedRange(range, location(range.shard), marks)
    }
  }

  /**
   * Time passes. The owner calls this at least once per second: a longer gap means that the driver
   * did not run, and that no executor is to blame for its silence.
   */
  def tick(now: Instant): Unit = synchronized {
    expire(running.at(now))
    assign()
  }

  /** Number of shards that are read ahead, or wait for an executor. */
  def readable: Int = synchronized(reading.shards.size)

  /** The executors with a recent heartbeat. */
  def live(now: Instant): Set[String] = synchronized {
    tick(now)
    executors.keySet
  }

  /** Sums over all executors since the query began; current sizes of the live executors only. */
  def counters: FetchCounters = synchronized {
    totals.sum.withState(FetchCounters.sum(executors.valuesIterator.map(_.counters)))
  }

  /** Sums over all executors in the last one to two minutes, without current sizes. */
  def recentCounters(now: Instant): FetchCounters = synchronized {
    recent = recent.at(totals.sum, running.at(now))
    recent.of(totals.sum)
  }

  /** See [[UnreadSince]]. */
  def unread: Map[StreamShard, Instant] = synchronized {
    batchStart.fold(Map.empty[StreamShard, Instant])(UnreadSince.of(_, reading.frontiers))
  }

  /** The longest time for which no page of a shard was reported, not even an empty one. */
  def longestSilence(now: Instant): FiniteDuration = synchronized {
    silence.longest(reading.shards.keySet, running.at(now))
  }

  def shardCounts: ShardCounts = synchronized {
    batchEnd.fold(ShardCounts.Zero)(ShardCounts.of(_, reading, closedShards))
  }

  def failure: Option[FetchFailure] = synchronized(failed)

  /** Why the service of an executor ended unexpectedly. */
  def crash: Option[String] = synchronized(crashed)

  /** Each executor receives the news with its next heartbeat. */
  def stop(): Unit = synchronized {
    stopped = true
    version += 1
  }

  /** Waits until an executor reports, or until the timeout. */
  def awaitNews(timeout: FiniteDuration): Unit = synchronized(wait(timeout.toMillis))

  /**
   * Waits until executors have read a page of every readable shard, a record of any, or until a
   * failure or the timeout.
   *
   * @param ofAll whether a record of any shard is not enough
   * @return `false` after the timeout
   */
  def awaitFirstLook(
      timeout: FiniteDuration,
      clock: () => Instant,
      ofAll: Boolean = false
  ): Boolean = synchronized {
    val end = clock().plusMillis(timeout.toMillis)
    def isReady = failed.nonEmpty || crashed.nonEmpty || batchEnd.exists { offset =>
      val looks = offset.readable.keys.map(id => reading.shards.get(id).flatMap(_.frontier))
      looks.forall(_.nonEmpty) || !ofAll && looks.exists(_.exists(_.marks.nonEmpty))
    }
    awaitUntil(end, clock)(isReady)
  }

  /** After `stop`: waits until every executor knows, or until the timeout. */
  def awaitStopped(timeout: FiniteDuration, clock: () => Instant): Boolean = synchronized {
    val end = clock().plusMillis(timeout.toMillis)
    awaitUntil(end, clock)(executors.keySet.subsetOf(stoppedExecutors))
  }

  private def awaitUntil(end: Instant, clock: () => Instant)(isReady: => Boolean): Boolean = {
    var left = end.toEpochMilli - clock().toEpochMilli
    while (!isReady && left > 0) {
      wait(left)
      left = end.toEpochMilli - clock().toEpochMilli
    }
    isReady
  }
}

object FetchCoordinator {
  private final case class Executor(
      host: String,
      service: String,
      lastHeartbeat: FiniteDuration,
      counters: FetchCounters
  )

  private object Executor {
    def of(status: FetchStatus, now: FiniteDuration): Executor =
      Executor(status.host, status.service, now, status.counters)
  }
}
