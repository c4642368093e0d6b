package sparkkinesis.source.plan

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.source.protocol._

/**
 * Driver-side: which executor reads which shard ahead, and how far they have come. A state machine
 * without threads, time passed in; safe for use by many threads.
 *
 * A shard stays with its executor until that one is lost. What the executors report counts only for
 * speed: an offset, once planned, is read again from Kinesis wherever the pages are gone.
 *
 * @param lease an executor silent for longer loses its shards
 */
final class FetchCoordinator(lease: FiniteDuration) {
  import FetchCoordinator._

  private var planned: Option[SourceOffset] = None // the end of the last planned batch
  private var begun: Option[SourceOffset] = None // its start
  private var done: Map[StreamShard, Progress] = Map.empty // what that start says of each shard
  private var executors: Map[String, Executor] = Map.empty
  private var reading = ReadingShards.Empty
  private var totals = FetchTotals.Zero
  private var closedShards = 0L
  private var version = 0L
  private var stopped = false
  private var waved: Set[String] = Set.empty // executors that know it has stopped
  private var failed: Option[FetchFailure] = None

  /** The batch from `start` to `end` is planned: read ahead from `end`; pages before `start` may go. */
  def advance(start: SourceOffset, end: SourceOffset, now: Instant): Unit = synchronized {
    if (!planned.contains(end) || !begun.contains(start)) move(start, end, now)
  }

  private def move(start: SourceOffset, end: SourceOffset, now: Instant): Unit = {
    closedShards += ShardCounts.closedBetween(planned.getOrElse(start), end)
    planned = Some(end)
    begun = Some(start)
    done = progressOf(start).toMap // what has left the offset is nobody's: its pages go too
    reading = reading.movedTo(end.readable, end.shard(_).flatMap(_.completeAsOf))
    version += 1
    expire(now)
    assign()
    notifyAll()
  }

  /** An executor reports and asks for its work. */
  def heartbeat(status: FetchStatus, now: Instant): FetchReply = synchronized {
    val isNew = !executors.contains(status.executor)
    executors = executors.updated(status.executor, Executor(status.host, now, status.counters))
    totals = totals.heard(status.executor, status.counters)
    // A service that knows no plan has no pages either: what one before it read here is gone.
    if (status.knownVersion == 0) reading = reading.without(Set(status.executor))
    failed = failed.orElse(status.failure.filter(reading.isOf(status.executor, _)))
    reading = status.reports.foldLeft(reading)(_.reported(status.executor, _))
    expire(now)
    if (isNew) reading = reading.evened(executors.size)
    assign()
    if (stopped) waved += status.executor
    notifyAll()
    FetchReply(
      version,
      stopped,
      if (status.knownVersion == version) None else Some(plan(status.executor))
    )
  }

  /** Of a shard that is another's by now, this executor keeps nothing. */
  private def plan(executor: String): FetchPlan =
    FetchPlan(
      reading.of(executor),
      done.filter { case (id, _) =>
        reading.shards.get(id).forall(_.executor.contains(executor))
      }
    )

  /** Its shards go to others at once. */
  def executorLost(executor: String, now: Instant): Unit = synchronized {
    lose(Set(executor))
    expire(now)
    assign()
  }

  private def expire(now: Instant): Unit = {
    val silent = executors.collect {
      case (id, executor) if now.isAfter(executor.lastHeard.plusMillis(lease.toMillis)) => id
    }.toSet
    if (silent.nonEmpty) lose(silent)
  }

  private def lose(gone: Set[String]): Unit = {
    executors --= gone
    reading = reading.without(gone)
  }

  private def assign(): Unit = {
    val before = reading.generations
    reading = reading.assigned(executors.keySet)
    if (reading.generations != before) version += 1
  }

  /** What the executors have found behind `start`. */
  def frontiers: Map[StreamShard, Frontier] = synchronized(reading.frontiers)

  /** Where a range's pages are, as (host, executor). */
  def location(shard: StreamShard): Option[(String, String)] = synchronized {
    for {
      state <- reading.shards.get(shard)
      id <- state.executor
      executor <- executors.get(id)
    } yield (executor.host, id)
  }

  /** The ranges of the batch that begins where reading ahead does, with all that is known of them. */
  def located(ranges: Vector[ShardRange]): Vector[LocatedRange[(String, String)]] = synchronized {
    ranges.map { range =>
      val marks = reading.shards.get(range.shard).fold(Vector.empty[Mark])(_.marksOf(range))
      LocatedRange(range, location(range.shard), marks)
    }
  }

  /** The executors that answer. */
  def live(now: Instant): Set[String] = synchronized {
    expire(now)
    assign()
    executors.keySet
  }

  /** Of all executors there were, but for what buffers hold. */
  def counters: FetchCounters = synchronized {
    totals.sum.copy(bufferedBytes = executors.values.map(_.counters.bufferedBytes).sum)
  }

  def shardCounts: ShardCounts = synchronized {
    planned.fold(ShardCounts.Zero)(ShardCounts.of(_, reading, closedShards))
  }

  def failure: Option[FetchFailure] = synchronized(failed)

  /** Each executor is told at its next heartbeat. */
  def stop(): Unit = synchronized {
    stopped = true
    version += 1
  }

  /** Waits until an executor reports, or time is up. */
  def awaitNews(timeout: FiniteDuration): Unit = synchronized(wait(timeout.toMillis))

  /**
   * Waits until every readable shard was looked at once or any has data, a failure came, or time is up.
   *
   * @return whether something changed before the time was up
   */
  def awaitFirstLook(timeout: FiniteDuration, clock: () => Instant): Boolean = synchronized {
    val end = clock().plusMillis(timeout.toMillis)
    def isReady = failed.nonEmpty || planned.exists { offset =>
      val looks = offset.readable.keys.map(id => reading.shards.get(id).flatMap(_.frontier))
      looks.forall(_.nonEmpty) || looks.exists(_.exists(_.marks.nonEmpty))
    }
    awaitUntil(end, clock)(isReady)
  }

  /** After `stop`: waits until every executor has heard of it, or time is up. */
  def awaitGoodbyes(timeout: FiniteDuration, clock: () => Instant): Boolean = synchronized {
    val end = clock().plusMillis(timeout.toMillis)
    awaitUntil(end, clock)(executors.keySet.subsetOf(waved))
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
  private def progressOf(offset: SourceOffset): Iterator[(StreamShard, Progress)] =
    for {
      (arn, stream) <- offset.streams.iterator
      (id, shard) <- stream.shards.iterator
    } yield StreamShard(arn, id) -> shard.progress

  private final case class Executor(host: String, lastHeard: Instant, counters: FetchCounters)
}
