package sparkkinesis.source.realtime

import scala.collection.immutable.SortedSet
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.Moment
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.source.SourceException

/**
 * What the tasks of each real-time batch read, and the offset after it.
 *
 * @param names of the streams, for messages
 */
final class LiveBatches(names: String, coordinator: LiveCoordinator) {
  import LiveBatches._

  private val log = LoggerFactory.getLogger(classOf[LiveBatches])
  private var planned = Option.empty[LiveBatch]
  private var groups = Vector.empty[SortedSet[StreamShard]]
  private var partial =
    Map.empty[StreamShard, (Progress, PartialRecord)] // at the end of the last batch
  private var limit = Option.empty[Limit]
  private var closed = 0L

  /**
   * The batch that begins there. Spark asks several times, so it is planned once.
   *
   * @param slots how many tasks could run at the same time
   * @param endsAtOnce whether another batch should begin as soon as possible
   */
  def batch(start: SourceOffset, slots: Int, endsAtOnce: Boolean, now: Moment): LiveBatch =
    planned.filter(_.start == start).getOrElse(plan(start, slots, endsAtOnce, now))

  private def plan(start: SourceOffset, slots: Int, endsAtOnce: Boolean, now: Moment): LiveBatch = {
    val readable = start.readable
    groups = TaskGroups.of(groups, readable.keySet, most(slots, now))
    val number = coordinator.begin(start)
    if (endsAtOnce) coordinator.endBatch()
    // Without shards, one task waits for the end of the batch, or else batches would follow at
    // once.
    val tasks = (if (groups.isEmpty) NoShards else groups).map(_.toSeq.map { shard =>
      val completeAsOf = start.shard(shard).flatMap(_.completeAsOf)
      val open = partial.get(shard).filter(_._1 == readable(shard)).map(_._2)
      ShardStart(shard, readable(shard), completeAsOf, open)
    })
    val batch = LiveBatch(number, start, tasks, now.elapsed)
    planned = Some(batch)
    batch
  }

  /** A task that finds no slot reads nothing. */
  private def most(slots: Int, now: Moment): Int = {
    val recent = limit.filter(_.since > now.elapsed - LimitPeriod)
    math.max(1, recent.fold(slots)(it => math.min(it.tasks, slots)))
  }

  /**
   * Whether another batch could have more tasks: executors have joined, or it is time to try again.
   */
  def hasMoreSlots(slots: Int, now: Moment): Boolean = planned.exists { batch =>
    now.elapsed - batch.since > Patience &&
    batch.tasks.size < math.min(batch.shards.size, most(slots, now))
  }

  /**
   * The batch has ended.
   *
   * @param withJoined its start, with the streams that the query reads since this run
   * @param confirmationPeriod see [[LiveEnds.joined]]
   * @return where the next one begins
   * @throws SourceException if the end of a task is missing
   */
  def end(
      ends: Seq[TaskEnd],
      withJoined: SourceOffset => SourceOffset,
      confirmationPeriod: FiniteDuration,
      now: Moment
  ): SourceOffset = {
    val before = planned.getOrElse(sys.error("No real-time batch is running."))
    planned = None
    coordinator.finish()
    val all = ends.flatMap(_.ends)
    // Rows of a task whose end is missing would be read again, although nothing has failed.
    if (all.map(_.shard).sorted != before.shards)
      throw new SourceException(
        "KINESIS_INTERNAL_ERROR",
        s"A real-time batch of $names read ${before.shards.size} shards, but Spark has the ends " +
          s"of ${all.size}. The batch runs again after a restart. Please report this error."
      )
    limitTasks(ends, now)
    closed += all.count(_.upTo == Progress.Finished)
    partial = all.flatMap(end => end.partial.map(it => end.shard -> (end.upTo -> it))).toMap
    LiveEnds.joined(withJoined(before.start), all, confirmationPeriod)
  }

  /** Limits the tasks of the next batches to as many as have run, if tasks found no slot. */
  private def limitTasks(ends: Seq[TaskEnd], now: Moment): Unit = {
    val idle = ends.count(end => !end.hasRun && !end.isRetry)
    val ran = ends.size - idle
    if (idle > 0 && ran > 0 && !coordinator.isCutShort) {
      limit = Some(Limit(ran, now.elapsed))
      log.warn(
        s"$idle of ${ends.size} tasks of a real-time batch of $names did not run, because no " +
          s"slot was free. For $LimitPeriod, batches have $ran tasks. Give the application more " +
          "cores, or set option 'maxPartitions' to the number of slots that are free for this " +
          "source."
      )
    }
  }

  /** Number of shards that were read to the end. */
  def closedShards: Long = closed
}

object LiveBatches {

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
final case class LiveBatch(
    number: Long,
    start: SourceOffset,
    tasks: Vector[Seq[ShardStart]],
    since: FiniteDuration
) {
  val shards: Seq[StreamShard] = tasks.flatten.map(_.shard).sorted
}

/**
 * Where a task has ended.
 *
 * @param hasRun whether Spark asked the task for a row before the end of the batch
 * @param isRetry whether an earlier attempt of the task has failed
 */
final case class TaskEnd(ends: Seq[ShardEndpoint], hasRun: Boolean, isRetry: Boolean)
