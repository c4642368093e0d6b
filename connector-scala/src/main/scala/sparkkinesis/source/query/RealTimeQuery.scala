package sparkkinesis.source.query

import java.time.Instant

import scala.collection.immutable.SortedSet
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.Moment
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.model.{ChildShard, StreamShard}
import sparkkinesis.shard.SourceException
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan._
import sparkkinesis.source.protocol._
import sparkkinesis.source.realtime._

/**
 * The driver's side of a query in real-time mode: plans the tasks of each batch, joins their ends
 * to the offset of the next one, and ends a batch early if something needs another one: shards
 * whose parents were read to the end, shards that no task reads, or a failure.
 *
 * @param patience how long a shard may be without a task before the batch ends
 */
private[sparkkinesis] final class RealTimeQuery(
    options: SourceOptions,
    streams: QueryStreams,
    patience: FiniteDuration = RealTimeQuery.Patience
) extends SourceQuery(options, streams, SourceQuery.Lease) {
  import RealTimeQuery._

  private val log = LoggerFactory.getLogger(classOf[RealTimeQuery])
  private var slots = 0
  private var isWanted = false // whether something outside wants another batch
  private var batch = Option.empty[RealTimeBatch] // that was planned last
  private var isDone = false // whether all its tasks have ended
  private var endedBatch = 0L // batches up to this one end as soon as their tasks hear of it
  private var missingSince = Option.empty[Long] // the tick since which a shard has no task
  private var hasMissed = false // whether a shard had no task for too long
  private var statuses = Map.empty[String, Heartbeat] // by executor
  private var groups = Vector.empty[SortedSet[StreamShard]] // of shards, one per task
  private var partial =
    Map.empty[StreamShard, (Progress, PartialRecord)] // at the end of the last batch
  private var limit = Option.empty[Limit]
  private var closedShards = 0L
  private var listedClosed = Set.empty[StreamShard]

  /**
   * How the world around the query is. Call it before each batch and with each tick.
   *
   * @param slots how many tasks can run at the same time
   * @param isWanted whether the query is to stop, or another source of it ends its batch: Spark
   *   ends a batch when the tasks of all sources have ended
   * @param seenIn the last batch when that was seen: it says nothing about a later one
   */
  def around(slots: Int, isWanted: Boolean, seenIn: Long, now: Moment): Unit = {
    this.slots = options.maxPartitions.fold(slots)(math.min(slots, _))
    if (seenIn == lastBatch) this.isWanted = isWanted || hasMoreSlots(now)
  }

  /** The number of the last batch. */
  def lastBatch: Long = batch.fold(0L)(_.number)

  private def running = batch.filterNot(_ => isDone)

  /**
   * Whether another batch could have more tasks: executors have joined, or it is time to try again.
   */
  private def hasMoreSlots(now: Moment): Boolean = running.exists { it =>
    now.elapsed - it.since > Patience && it.tasks.size < math.min(it.shards.size, mostTasks(now))
  }

  /** A task that finds no slot reads nothing. */
  private def mostTasks(now: Moment): Int = {
    val recent = limit.filter(_.since > now.elapsed - LimitPeriod)
    math.max(1, recent.fold(slots)(it => math.min(it.tasks, slots)))
  }

  /** Plans the batch that begins there. Spark asks several times, so it is planned once. */
  def began(start: SourceOffset, now: Moment): Answer[RealTimeBatch] = answering(now) {
    streams.check(start, now)
    val from = streams.withoutRemoved(start)
    leave(streams.advance(from, now))
    failing(None, now).orElse(joining(from, now)).getOrElse {
      // Streams join between two batches.
      val endsAtOnce = streams.withJoined(from).exists(_ ne from)
      val begin = streams.withoutReportedLoss(from)
      Answer.Ready(running.filter(_.start == begin).getOrElse(plan(begin, endsAtOnce, now)))
    }
  }

  private def plan(start: SourceOffset, endsAtOnce: Boolean, now: Moment): RealTimeBatch = {
    val readable = start.readable
    groups = TaskGroups.of(groups, readable.keySet, mostTasks(now))
    // Without shards, one task waits for the end of the batch, or else batches would follow at
    // once.
    val tasks = (if (groups.isEmpty) NoShards else groups).map(_.toSeq.map { shard =>
      val completeAsOf = start.shard(shard).flatMap(_.completeAsOf)
      val open = partial.get(shard).filter(_._1 == readable(shard)).map(_._2)
      RealTimeStart(shard, readable(shard), completeAsOf, open)
    })
    val planned = RealTimeBatch(lastBatch + 1, start, tasks, now.elapsed)
    batch = Some(planned)
    isDone = false
    missingSince = None
    hasMissed = false
    if (endsAtOnce) endBatch()
    log.info(
      s"Real-time batch ${planned.number} of ${options.names} reads ${planned.shards.size} " +
        s"shards in ${tasks.count(_.nonEmpty)} tasks."
    )
    planned
  }

  /**
   * The executor that reads most of a task's shards: its host and ID.
   *
   * @param starts of the task
   */
  def place(starts: Seq[RealTimeStart]): Option[(String, String)] =
    starts.toVector
      .flatMap(start => location(start.shard))
      .groupBy(identity)
      .toVector
      .sortBy { case (place, all) => (-all.size, place) }
      .headOption
      .map(_._1)

  /** The host and the executor that read a shard, or have it parked. */
  private def location(shard: StreamShard): Option[(String, String)] = {
    val all = statuses.values.filter(_.shards.contains(shard))
    all.find(reads(_, shard)).orElse(all.headOption).map(it => it.host -> it.executor)
  }

  override def heard(status: Heartbeat): HeartbeatReply = {
    if (isWanted) endBatch() // before a shard without a task can be the reason
    val isCurrent = executors.heard(status)
    if (isCurrent) received(status)
    if (hasFailed) endBatch()
    val parked = status.shards.collect { case (shard, state) if !state.isActive => shard }.toSet
    val others = (statuses - status.executor).values
    val elsewhere = parked.filter(shard => isCurrent && others.exists(reads(_, shard)))
    val closed = status.shards.collect {
      case (shard, state) if state.millisBehind == 0 && listedClosed(shard) => shard
    }.toSet
    HeartbeatReply(0, executors.isStopped || !isCurrent, None, endedBatch, elsewhere, closed)
  }

  private def received(status: Heartbeat): Unit = {
    val before = statuses.get(status.executor)
    statuses += status.executor -> status
    status.failure.foreach(executors.fails)
    status.shards.foreach { case (shard, state) =>
      val known = before.flatMap(_.shards.get(shard)).map(_.reports)
      if (!known.contains(state.reports)) executors.heardOf(shard)
    }
    if (readsMoreNext || lacksTasks) endBatch()
  }

  /** Whether the next batch could read shards that this one cannot. */
  private def readsMoreNext: Boolean = batch.exists { it =>
    val readable = it.start.readable
    val ended = statuses.values.flatMap(_.ended).collect {
      case (shard, end) if end.batch == it.number && readable.contains(shard) =>
        shard -> atEnd(end.children)
    }
    ended.nonEmpty && {
      val next = BatchPlanner.end(it.start, ended.toMap, ReadLimits.None)
      !next.readable.keySet.subsetOf(readable.keySet)
    }
  }

  /** Whether a shard has had no task for too long, because there are fewer slots than tasks. */
  private def lacksTasks: Boolean = {
    val active = statuses.values.flatMap(_.shards).collect {
      case (shard, state) if state.isActive => shard
    }
    val isMissing = batch.exists(!_.start.readable.keySet.subsetOf(active.toSet))
    missingSince = if (isMissing) missingSince.orElse(Some(executors.ticks)) else None
    hasMissed ||= !isEnding &&
      missingSince.exists(since => ExecutorTable.Tick * (executors.ticks - since) > patience)
    hasMissed
  }

  /** The last batch ends as soon as its tasks hear of it. */
  private def endBatch(): Unit = endedBatch = lastBatch

  /** Whether the running batch is to end early. */
  def isEnding: Boolean = running.exists(_.number == endedBatch)

  override protected def foundClosed(): Unit = listedClosed = streams.closed

  /** Its tasks run again, but perhaps there is no slot for them while the batch runs. */
  override protected def disconnected(executor: String): Unit = {
    if (hasTasks(executor)) endBatch()
    statuses -= executor
  }

  /**
   * An executor that is only silent keeps its tasks, and Spark starts no others. Without tasks, its
   * service has ended.
   */
  override protected def silent(gone: Set[String]): Unit = statuses --= gone.filterNot(hasTasks)

  private def hasTasks(executor: String): Boolean =
    statuses.get(executor).exists(_.shards.values.exists(_.isActive))

  override def stop(): Unit = {
    super.stop()
    endBatch()
  }

  /**
   * The batch has ended.
   *
   * @return where the next one begins
   * @throws SourceException if the end of a task is missing
   */
  def ended(tasks: Seq[TaskEnd], now: Moment): SourceOffset = {
    val ended = running.getOrElse(sys.error("No real-time batch is running."))
    isDone = true
    val ends = tasks.flatMap(_.ends)
    // Rows of a task whose end is missing would be read again, although nothing has failed.
    if (ends.map(_.shard).sorted != ended.shards)
      throw new SourceException(
        "KINESIS_INTERNAL_ERROR",
        s"A real-time batch of ${options.names} read ${ended.shards.size} shards, but Spark has " +
          s"the ends of ${ends.size}. The batch runs again after a restart. Please report this " +
          "error."
      )
    limitTasks(tasks, now)
    closedShards += ends.count(_.upTo == Progress.Finished)
    partial = ends.flatMap(end => end.partial.map(it => end.shard -> (end.upTo -> it))).toMap
    val start = streams.withJoined(ended.start).getOrElse(ended.start)
    streams.repair(TaskEnds.joined(start, ends, streams.confirmationPeriod))
  }

  /** Limits the tasks of the next batches to as many as have run, if tasks found no slot. */
  private def limitTasks(tasks: Seq[TaskEnd], now: Moment): Unit = {
    val idle = tasks.count(end => !end.hasRun && !end.isRetry)
    val ran = tasks.size - idle
    val isCutShort = endedBatch == lastBatch && !hasMissed
    if (idle > 0 && ran > 0 && !isCutShort) {
      limit = Some(Limit(ran, now.elapsed))
      log.warn(
        s"$idle of ${tasks.size} tasks of a real-time batch of ${options.names} did not run, " +
          s"because no slot was free. For $LimitPeriod, batches have $ran tasks. Give the " +
          "application more cores, or set option 'maxPartitions' to the number of slots that are " +
          "free for this source."
      )
    }
  }

  override protected def unread: Map[StreamShard, Instant] =
    batch.fold(Map.empty[StreamShard, Instant]) { it =>
      val read = states
      UnreadSince.of(it.start, frontiersOf(read) -- waitingIn(read).keys)
    }

  override protected def lags(
      silences: Map[StreamShard, FiniteDuration],
      now: Moment
  ): Map[StreamShard, Long] =
    batch.fold(Map.empty[StreamShard, Long]) { it =>
      val read = states
      ProcessingLag.of(
        it.start.readable.keySet -- statuses.values.flatMap(_.ended.keys),
        frontiersOf(read),
        waitingIn(read),
        it.start.shard(_).flatMap(_.completeAsOf),
        silences,
        usualPause,
        streams.times(now)
      )
    }

  override protected def silences: Map[StreamShard, FiniteDuration] =
    executors.silences(states.keySet)

  /** The shards that executors read. */
  private def states: Map[StreamShard, RealTimeShardState] =
    statuses.values.flatMap(unfinished).toVector.sortBy(_._2.isActive).toMap

  /** @param offset up to which batches have read */
  def report(offset: SourceOffset, now: Moment): QueryReport = {
    val known = frontiersOf(states)
    report(known, ShardCounts.of(offset, known, closedShards), now)
  }
}

private[sparkkinesis] object RealTimeQuery {

  /** How long a shard may be without a task. */
  val Patience: FiniteDuration = 10.seconds

  private def unfinished(status: Heartbeat) =
    status.shards.filterNot { case (shard, _) => status.ended.contains(shard) }

  /** How far executors are in each shard that they read. */
  private def frontiersOf(states: Map[StreamShard, RealTimeShardState]) = states.collect {
    case (shard, state) if state.reports > 0 =>
      shard -> Frontier(Vector.empty, Nil, state.millisBehind, state.completeAsOfMillis)
  }

  /** When the first record arrived that no task has handed out, of the shards that have one. */
  private def waitingIn(states: Map[StreamShard, RealTimeShardState]): Map[StreamShard, Long] =
    for ((shard, state) <- states; first <- state.waitingSinceMillis) yield shard -> first

  private def reads(status: Heartbeat, shard: StreamShard) =
    status.shards.get(shard).exists(_.isActive)

  private def atEnd(children: Seq[ChildShard]) =
    Frontier(Vector(Mark(Progress.Finished, 0, 0, 0)), children, 0, 0)

  private val NoShards = Vector(SortedSet.empty[StreamShard])

  /** The time for which batches have no more tasks than have found a slot. */
  private val LimitPeriod = 5.minutes

  /**
   * @param tasks that can run at the same time
   * @param since when that was seen
   */
  private final case class Limit(tasks: Int, since: FiniteDuration)
}

/**
 * @param number of the batch within the run, from 1
 * @param tasks what each task reads
 * @param since when it was planned
 */
private[sparkkinesis] final case class RealTimeBatch(
    number: Long,
    start: SourceOffset,
    tasks: Vector[Seq[RealTimeStart]],
    since: FiniteDuration
) {
  val shards: Seq[StreamShard] = tasks.flatten.map(_.shard).sorted
}
