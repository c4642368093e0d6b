package sparkkinesis.source.realtime

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.model.{ChildShard, StreamShard}
import sparkkinesis.source.plan.{
  BatchPlanner,
  FetchTotals,
  RecentFetches,
  RunningTime,
  ShardSilence,
  UnreadSince
}
import sparkkinesis.source.protocol._

/**
 * Knows on the driver how far the tasks of a real-time batch are, and ends the batch early if
 * something needs another one: shards whose parents were read to the end, shards that no task
 * reads, a failure, or a query that is to stop. Safe for many threads.
 *
 * @param patience how long a shard may be without a task before the batch ends
 * @param wantsEnd whether the driver itself wants to end the batch; called with each status
 */
final class LiveCoordinator(patience: FiniteDuration, wantsEnd: () => Boolean) {
  import LiveCoordinator._

  private val running = new RunningTime
  private val silence = new ShardSilence
  private var executors = Map.empty[String, Heard]
  private var replaced = Set.empty[String] // services whose executors have a newer one
  private var totals = FetchTotals.Zero
  private var recent = RecentFetches.Empty
  private var start = Option.empty[SourceOffset]
  private var missingSince = Option.empty[FiniteDuration] // since when a shard has no task
  private var hasMissed = false // whether a shard had no task for too long
  private var batch = 0L
  private var isDone = false // whether all tasks of the batch have ended
  private var endedBatch = 0L
  private var failed = Option.empty[FetchFailure]
  private var crashed = Option.empty[String]
  private var isStopped = false
  private var told = Set.empty[String] // executors that know that the query has stopped

  /**
   * A batch begins.
   *
   * @return its number
   */
  def begin(offset: SourceOffset): Long = synchronized {
    start = Some(offset)
    missingSince = None
    hasMissed = false
    isDone = false
    batch += 1
    batch
  }

  /** Notes that all tasks of the batch have ended. */
  def finish(): Unit = synchronized { isDone = true }

  /** The running batch ends as soon as its tasks hear of it. */
  def endBatch(): Unit = synchronized { endedBatch = batch }

  /** Whether the running batch is to end early. */
  def isEnding: Boolean = synchronized(batch > 0 && endedBatch == batch && !isDone)

  /** Whether the batch ends early for another reason than that a shard has no task. */
  def isCutShort: Boolean = synchronized(endedBatch == batch && !hasMissed)

  def answer(status: LiveStatus, now: Instant): LiveReply = {
    val asked = synchronized(batch)
    val isWanted = wantsEnd() // without the lock: it asks other coordinators
    synchronized {
      if (replaced(status.service)) LiveReply(isStopped = true, endedBatch, Set.empty)
      else {
        val before = executors.get(status.executor).map(_.status.service)
        replaced ++= before.filter(_ != status.service)
        if (isWanted && asked == batch) endBatch()
        heard(status, running.at(now))
      }
    }
  }

  private def heard(status: LiveStatus, time: FiniteDuration): LiveReply = {
    val before = executors.get(status.executor).map(_.status)
    executors = executors.updated(status.executor, Heard(status, time))
    totals = totals.updated(status.executor, status.counters)
    status.shards.foreach { case (shard, state) =>
      val known = before.flatMap(_.shards.get(shard)).map(_.reports)
      if (!known.contains(state.reports)) silence.reported(shard, time)
    }
    failed = failed.orElse(status.failure)
    crashed = crashed.orElse(status.crash)
    if (failed.nonEmpty || crashed.nonEmpty || readsMoreNext || lacksTasks(time)) endBatch()
    if (isStopped) told += status.executor
    notifyAll()
    val others = executors.values.map(_.status).filter(_.executor != status.executor)
    val parked = status.shards.collect { case (shard, state) if !state.isActive => shard }.toSet
    LiveReply(isStopped, endedBatch, parked.filter(shard => others.exists(reads(_, shard))))
  }

  /** Whether the next batch could read shards that this one cannot. */
  private def readsMoreNext: Boolean = start.exists { offset =>
    val readable = offset.readable
    val ended = executors.values.flatMap(_.status.ended).collect {
      case (shard, end) if end.batch == batch && readable.contains(shard) =>
        shard -> atEnd(end.children)
    }
    ended.nonEmpty && {
      val next = BatchPlanner.end(offset, ended.toMap, ReadLimits.None)
      !next.readable.keySet.subsetOf(readable.keySet)
    }
  }

  /** Whether a shard has had no task for too long, because there are fewer slots than tasks. */
  private def lacksTasks(time: FiniteDuration): Boolean = {
    val active = executors.values
      .flatMap(_.status.shards)
      .collect {
        case (shard, state) if state.isActive => shard
      }
      .toSet
    val isMissing = start.exists(!_.readable.keySet.subsetOf(active))
    missingSince = if (isMissing) missingSince.orElse(Some(time)) else None
    hasMissed ||= !isEnding && missingSince.exists(time - _ > patience)
    hasMissed
  }

  /**
   * Notes that an executor is lost. Its tasks run again, but perhaps there is no slot for them
   * while the batch runs.
   */
  def executorLost(executor: String): Unit = synchronized {
    if (executors.get(executor).exists(_.status.shards.values.exists(_.isActive))) endBatch()
    executors -= executor
    notifyAll()
  }

  /** The host and the executor that read a shard, or have it parked. */
  def location(shard: StreamShard): Option[(String, String)] = synchronized {
    val all = executors.values.map(_.status).filter(_.shards.contains(shard))
    all.find(reads(_, shard)).orElse(all.headOption).map(it => it.host -> it.executor)
  }

  def failure: Option[FetchFailure] = synchronized(failed)

  /** Why the service of an executor ended unexpectedly. */
  def crash: Option[String] = synchronized(crashed)

  /** Sums over all executors since the query began; current sizes of the live executors only. */
  def counters: FetchCounters = synchronized {
    totals.sum.withState(FetchCounters.sum(executors.valuesIterator.map(_.status.counters)))
  }

  /** Sums over all executors in the last one to two minutes, without current sizes. */
  def recentCounters(now: Instant): FetchCounters = synchronized {
    recent = recent.at(totals.sum, running.at(now))
    recent.of(totals.sum)
  }

  /** See [[UnreadSince]]. */
  def unread: Map[StreamShard, Instant] = synchronized {
    start.fold(Map.empty[StreamShard, Instant])(UnreadSince.of(_, frontiers))
  }

  /** How far executors are in each shard that they read. */
  def frontiers: Map[StreamShard, Frontier] = synchronized {
    val all = executors.values.flatMap(unfinished).toVector.sortBy(_._2.isActive).toMap
    all.collect {
      case (shard, state) if state.reports > 0 =>
        shard -> Frontier(Vector.empty, Nil, state.millisBehind, state.completeAsOfMillis)
    }
  }

  /** The longest time for which no page of a shard was reported, not even an empty one. */
  def longestSilence(now: Instant): FiniteDuration = synchronized {
    silence.longest(executors.values.flatMap(unfinished).map(_._1).toSet, running.at(now))
  }

  /** Stops the query. Each executor learns of the stop with its next status. */
  def stop(): Unit = synchronized {
    isStopped = true
    endBatch()
  }

  /**
   * Waits after `stop` until every executor that still reports knows of it, or until the timeout.
   */
  def awaitStopped(timeout: FiniteDuration, clock: () => Instant): Unit = synchronized {
    val end = clock().plusMillis(timeout.toMillis)
    val recent = running.at(clock()) - Silent
    val waited = executors.collect { case (id, heard) if heard.at >= recent => id }.toSet
    var left = timeout.toMillis
    while (!waited.subsetOf(told) && left > 0) {
      wait(left)
      left = end.toEpochMilli - clock().toEpochMilli
    }
  }
}

private object LiveCoordinator {

  /** The service of an executor that is silent for this time has ended. */
  private val Silent = 2.seconds

  private final case class Heard(status: LiveStatus, at: FiniteDuration)

  private def unfinished(heard: Heard) =
    heard.status.shards.filterNot { case (shard, _) => heard.status.ended.contains(shard) }

  private def reads(status: LiveStatus, shard: StreamShard) =
    status.shards.get(shard).exists(_.isActive)

  private def atEnd(children: Seq[ChildShard]) =
    Frontier(Vector(Mark(Progress.Finished, 0, 0, 0)), children, 0, 0)
}
