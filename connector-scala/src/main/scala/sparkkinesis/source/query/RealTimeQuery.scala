package sparkkinesis.source.query

import java.time.Instant

import scala.collection.immutable.SortedSet
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.Moment
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.source.SourceException
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan.ShardCounts
import sparkkinesis.source.realtime._

/**
 * The driver's side of a query in real-time mode: plans the tasks of each batch, joins their ends
 * to the offset of the next one, and ends a batch early if another one is needed.
 *
 * @param patience how long a shard may be without a task before the batch ends
 */
final class RealTimeQuery(
    options: SourceOptions,
    streams: QueryStreams,
    patience: FiniteDuration = RealTimeQuery.Patience
) extends SourceQuery[RealTimeStatus](options.names, streams) {
  import RealTimeQuery._

  private val log = LoggerFactory.getLogger(classOf[RealTimeQuery])
  override protected val coordinator = new RealTimeCoordinator(patience)
  private var slots = 0
  private var isWanted = false // whether something outside wants another batch
  private var running = Option.empty[RealTimeBatch]
  private var groups = Vector.empty[SortedSet[StreamShard]] // of shards, one per task
  private var partial =
    Map.empty[StreamShard, (Progress, PartialRecord)] // at the end of the last batch
  private var limit = Option.empty[Limit]
  private var closedShards = 0L

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
  def lastBatch: Long = coordinator.number

  /**
   * Whether another batch could have more tasks: executors have joined, or it is time to try again.
   */
  private def hasMoreSlots(now: Moment): Boolean = running.exists { batch =>
    now.elapsed - batch.since > Patience &&
    batch.tasks.size < math.min(batch.shards.size, mostTasks(now))
  }

  /** A task that finds no slot reads nothing. */
  private def mostTasks(now: Moment): Int = {
    val recent = limit.filter(_.since > now.elapsed - LimitPeriod)
    math.max(1, recent.fold(slots)(it => math.min(it.tasks, slots)))
  }

  /** Whether the running batch is to end early. */
  def isEnding: Boolean = coordinator.isEnding

  override def heard(beat: RealTimeStatus): RealTimeReply = {
    if (isWanted || hasFailed) coordinator.endBatch()
    coordinator.answer(beat)
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
    val number = coordinator.begin(start)
    if (endsAtOnce) coordinator.endBatch()
    // Without shards, one task waits for the end of the batch, or else batches would follow at
    // once.
    val tasks = (if (groups.isEmpty) NoShards else groups).map(_.toSeq.map { shard =>
      val completeAsOf = start.shard(shard).flatMap(_.completeAsOf)
      val open = partial.get(shard).filter(_._1 == readable(shard)).map(_._2)
      RealTimeStart(shard, readable(shard), completeAsOf, open)
    })
    val batch = RealTimeBatch(number, start, tasks, now.elapsed)
    running = Some(batch)
    log.info(
      s"Real-time batch $number of ${options.names} reads ${batch.shards.size} shards in " +
        s"${tasks.count(_.nonEmpty)} tasks."
    )
    batch
  }

  /**
   * The executor that reads most of a task's shards: its host and ID.
   *
   * @param starts of the task
   */
  def place(starts: Seq[RealTimeStart]): Option[(String, String)] =
    starts.toVector
      .flatMap(start => coordinator.location(start.shard))
      .groupBy(identity)
      .toVector
      .sortBy { case (place, all) => (-all.size, place) }
      .headOption
      .map(_._1)

  /**
   * The batch has ended.
   *
   * @return where the next one begins
   * @throws SourceException if the end of a task is missing
   */
  def ended(tasks: Seq[TaskEnd], now: Moment): SourceOffset = {
    val batch = running.getOrElse(sys.error("No real-time batch is running."))
    running = None
    coordinator.finish()
    val ends = tasks.flatMap(_.ends)
    // Rows of a task whose end is missing would be read again, although nothing has failed.
    if (ends.map(_.shard).sorted != batch.shards)
      throw new SourceException(
        "KINESIS_INTERNAL_ERROR",
        s"A real-time batch of ${options.names} read ${batch.shards.size} shards, but Spark has " +
          s"the ends of ${ends.size}. The batch runs again after a restart. Please report this " +
          "error."
      )
    limitTasks(tasks, now)
    closedShards += ends.count(_.upTo == Progress.Finished)
    partial = ends.flatMap(end => end.partial.map(it => end.shard -> (end.upTo -> it))).toMap
    val start = streams.withJoined(batch.start).getOrElse(batch.start)
    streams.repair(TaskEnds.joined(start, ends, streams.confirmationPeriod))
  }

  /** Limits the tasks of the next batches to as many as have run, if tasks found no slot. */
  private def limitTasks(tasks: Seq[TaskEnd], now: Moment): Unit = {
    val idle = tasks.count(end => !end.hasRun && !end.isRetry)
    val ran = tasks.size - idle
    if (idle > 0 && ran > 0 && !coordinator.isCutShort) {
      limit = Some(Limit(ran, now.elapsed))
      log.warn(
        s"$idle of ${tasks.size} tasks of a real-time batch of ${options.names} did not run, " +
          s"because no slot was free. For $LimitPeriod, batches have $ran tasks. Give the " +
          "application more cores, or set option 'maxPartitions' to the number of slots that are " +
          "free for this source."
      )
    }
  }

  override protected def unread: Map[StreamShard, Instant] = coordinator.unread

  /** @param offset up to which batches have read */
  def report(offset: SourceOffset, now: Moment): QueryReport = {
    val frontiers = coordinator.frontiers
    val unfinished = offset.settled.streams.valuesIterator.map(_.shards.size).sum
    val open = offset.readable.size
    val counts =
      ShardCounts(open.toLong, closedShards, (unfinished - open).toLong, frontiers.size.toLong)
    report(frontiers, counts, coordinator.longestSilence, now)
  }
}

object RealTimeQuery {

  /** How long a shard may be without a task. */
  val Patience: FiniteDuration = 10.seconds

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
final case class RealTimeBatch(
    number: Long,
    start: SourceOffset,
    tasks: Vector[Seq[RealTimeStart]],
    since: FiniteDuration
) {
  val shards: Seq[StreamShard] = tasks.flatten.map(_.shard).sorted
}
