package sparkkinesis.source.realtime

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.model.{ChildShard, StreamShard}
import sparkkinesis.source.plan.{BatchPlanner, Coordinator, ExecutorTable, UnreadSince}
import sparkkinesis.source.protocol._

/**
 * Knows on the driver how far the tasks of a real-time batch are, and ends the batch early if
 * something needs another one: shards whose parents were read to the end, shards that no task
 * reads, or a failure.
 *
 * @param patience how long a shard may be without a task before the batch ends
 */
final class RealTimeCoordinator(patience: FiniteDuration)
    extends Coordinator[RealTimeStatus](lease = 10.seconds) {
  import RealTimeCoordinator._

  private var statuses = Map.empty[String, RealTimeStatus] // by executor
  private var start = Option.empty[SourceOffset]
  private var missingSince = Option.empty[Long] // the tick since which a shard has no task
  private var hasMissed = false // whether a shard had no task for too long
  private var batch = 0L
  private var isDone = false // whether all tasks of the batch have ended
  private var endedBatch = 0L

  /**
   * A batch begins.
   *
   * @return its number
   */
  def begin(offset: SourceOffset): Long = {
    start = Some(offset)
    missingSince = None
    hasMissed = false
    isDone = false
    batch += 1
    batch
  }

  /** The number of the last batch. */
  def number: Long = batch

  /** Notes that all tasks of the batch have ended. */
  def finish(): Unit = isDone = true

  /** The running batch ends as soon as its tasks hear of it. */
  def endBatch(): Unit = endedBatch = batch

  /** Whether the running batch is to end early. */
  def isEnding: Boolean = batch > 0 && endedBatch == batch && !isDone

  /** Whether the batch ends early for another reason than that a shard has no task. */
  def isCutShort: Boolean = endedBatch == batch && !hasMissed

  override def answer(status: RealTimeStatus): RealTimeReply =
    if (executors.heard(status)) {
      received(status)
      val parked = status.shards.collect { case (shard, state) if !state.isActive => shard }.toSet
      val others = (statuses - status.executor).values
      val elsewhere = parked.filter(shard => others.exists(reads(_, shard)))
      RealTimeReply(executors.isStopped, endedBatch, elsewhere)
    } else RealTimeReply(isStopped = true, endedBatch, Set.empty)

  private def received(status: RealTimeStatus): Unit = {
    val before = statuses.get(status.executor)
    statuses += status.executor -> status
    status.failure.foreach(executors.fails)
    status.shards.foreach { case (shard, state) =>
      val known = before.flatMap(_.shards.get(shard)).map(_.reports)
      if (!known.contains(state.reports)) executors.heardOf(shard)
    }
    if (failure.nonEmpty || crash.nonEmpty || readsMoreNext || lacksTasks) endBatch()
  }

  /** Whether the next batch could read shards that this one cannot. */
  private def readsMoreNext: Boolean = start.exists { offset =>
    val readable = offset.readable
    val ended = statuses.values.flatMap(_.ended).collect {
      case (shard, end) if end.batch == batch && readable.contains(shard) =>
        shard -> atEnd(end.children)
    }
    ended.nonEmpty && {
      val next = BatchPlanner.end(offset, ended.toMap, ReadLimits.None)
      !next.readable.keySet.subsetOf(readable.keySet)
    }
  }

  /** Whether a shard has had no task for too long, because there are fewer slots than tasks. */
  private def lacksTasks: Boolean = {
    val active = statuses.values
      .flatMap(_.shards)
      .collect {
        case (shard, state) if state.isActive => shard
      }
      .toSet
    val isMissing = start.exists(!_.readable.keySet.subsetOf(active))
    missingSince = if (isMissing) missingSince.orElse(Some(executors.ticks)) else None
    hasMissed ||= !isEnding &&
      missingSince.exists(since => ExecutorTable.Tick * (executors.ticks - since) > patience)
    hasMissed
  }

  /** Its tasks run again, but perhaps there is no slot for them while the batch runs. */
  override def executorLost(executor: String): Unit = {
    executors.lose(executor)
    lose(executor)
  }

  /**
   * An executor that is only silent keeps its tasks, and Spark starts no others. Without tasks, its
   * service has ended.
   */
  override def tick(): Unit = executors.tick().filterNot(hasTasks).foreach(lose)

  private def hasTasks(executor: String): Boolean =
    statuses.get(executor).exists(_.shards.values.exists(_.isActive))

  private def lose(executor: String): Unit = {
    if (hasTasks(executor)) endBatch()
    statuses -= executor
  }

  /** The host and the executor that read a shard, or have it parked. */
  def location(shard: StreamShard): Option[(String, String)] = {
    val all = statuses.values.filter(_.shards.contains(shard))
    all.find(reads(_, shard)).orElse(all.headOption).map(it => it.host -> it.executor)
  }

  /** See [[UnreadSince]]. */
  def unread: Map[StreamShard, Instant] =
    start.fold(Map.empty[StreamShard, Instant])(UnreadSince.of(_, frontiers))

  /** How far executors are in each shard that they read. */
  def frontiers: Map[StreamShard, Frontier] = {
    val all = statuses.values.flatMap(unfinished).toVector.sortBy(_._2.isActive).toMap
    all.collect {
      case (shard, state) if state.reports > 0 =>
        shard -> Frontier(Vector.empty, Nil, state.millisBehind, state.completeAsOfMillis)
    }
  }

  /** The longest time for which no page of a shard was reported, not even an empty one. */
  def longestSilence: FiniteDuration =
    executors.longestSilence(statuses.values.flatMap(unfinished).map(_._1).toSet)

  override def stop(): Unit = {
    super.stop()
    endBatch()
  }
}

private object RealTimeCoordinator {
  private def unfinished(status: RealTimeStatus) =
    status.shards.filterNot { case (shard, _) => status.ended.contains(shard) }

  private def reads(status: RealTimeStatus, shard: StreamShard) =
    status.shards.get(shard).exists(_.isActive)

  private def atEnd(children: Seq[ChildShard]) =
    Frontier(Vector(Mark(Progress.Finished, 0, 0, 0)), children, 0, 0)
}
