package sparkkinesis.spark.read.realtime

import java.util.concurrent.ConcurrentHashMap

import scala.collection.immutable.SortedSet
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.Executors

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, SourceOffset}
import sparkkinesis.source.plan.ShardCounts
import sparkkinesis.source.realtime._
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.SourceProgress
import sparkkinesis.spark.read.task.{FetchRun, StatusEndpoint}

/**
 * The driver's side of a query in real-time mode: plans the tasks of each batch, joins their ends to the
 * offset of the next one, and answers the executors meanwhile. The query's thread uses it; Spark's RPC
 * threads call it to answer.
 *
 * @param wantsEnd whether the driver needs another batch; called on Spark's RPC threads
 */
private[spark] final class RealTimeBatches(
    context: SparkContext,
    run: FetchRun,
    wantsEnd: () => Boolean
) extends AutoCloseable {
  import RealTimeBatches._

  private val log = LoggerFactory.getLogger(classOf[RealTimeBatches])
  private val names = run.options.names
  private val query = Option(context.getLocalProperty("spark.jobGroup.id")).getOrElse(run.id)
  private val patience = if (Executors.areDynamic(context)) StartPatience else Patience
  private val coordinator = new LiveCoordinator(patience, () => isOver)
  private val statuses = new StatusEndpoint[LiveStatus](
    run,
    _.executor,
    coordinator.answer(_, SystemClock.steady),
    coordinator.executorLost(_)
  )
  private val endpoint = statuses.open()
  @volatile private var planned = Option.empty[Planned]
  private var groups = Vector.empty[SortedSet[StreamShard]]
  private var partial =
    Map.empty[StreamShard, (Progress, PartialRecord)] // at the end of the last batch
  @volatile private var limit = Option.empty[Limit]
  private var closedShards = 0L
  ofQuery.merge(query, Set(this), (all, more) => all ++ more)

  /** Spark ends a batch when the tasks of all sources have ended. */
  private def isOver: Boolean =
    wantsEnd() || statuses.hasOtherVersion || planned.exists(hasMoreSlots) ||
      ofQuery.getOrDefault(query, Set.empty).exists(it => (it ne this) && it.coordinator.isEnding)

  /**
   * The tasks of the batch that begins there. Spark asks several times, so they are planned once.
   *
   * @param endsAtOnce whether another batch should begin as soon as possible
   */
  def partitions(start: SourceOffset, endsAtOnce: Boolean): Seq[RealTimePartition] =
    planned.filter(_.start == start).getOrElse(plan(start, endsAtOnce)).partitions

  private def plan(start: SourceOffset, endsAtOnce: Boolean): Planned = {
    val readable = start.readable
    groups = TaskGroups.of(groups, readable.keySet, mostTasks(readable.size))
    val batch = coordinator.begin(start)
    if (endsAtOnce) coordinator.endBatch()
    // Without shards, one task waits for the end of the batch. Otherwise batches would follow at once.
    val partitions = (if (groups.isEmpty) NoShards else groups).map { shards =>
      val starts = shards.toSeq.map { shard =>
        val completeAsOf = start.shard(shard).flatMap(_.completeAsOf)
        val open = partial.get(shard).filter(_._1 == readable(shard)).map(_._2)
        ShardStart(shard, readable(shard), completeAsOf, open)
      }
      RealTimePartition(batch, starts, location(shards).toSeq)
    }
    log.info(
      s"Real-time batch $batch of $names reads ${readable.size} shards in ${groups.size} tasks."
    )
    val now = Planned(start, partitions, SystemClock.elapsedMillis)
    planned = Some(now)
    now
  }

  /** A task that finds no slot reads nothing. */
  private def mostTasks(shards: Int): Int = {
    val slots = Executors.slots(context)
    // With dynamic allocation, tasks that wait are what Spark adds executors for.
    val wanted = if (Executors.areDynamic(context)) shards else slots
    val recent = limit.filter(_.since > SystemClock.elapsedMillis - LimitPeriod.toMillis)
    val found = recent.fold(wanted)(it => math.min(it.tasks, wanted))
    math.max(1, run.options.maxPartitions.fold(found)(math.min(found, _)))
  }

  /** Whether another batch could have more tasks: executors have joined, or it is time to try again. */
  private def hasMoreSlots(batch: Planned): Boolean =
    SystemClock.elapsedMillis - batch.since > Patience.toMillis &&
      batch.partitions.size < math.min(batch.shards.size, mostTasks(batch.shards.size))

  /** The executor that reads most of these shards. In local mode there is only one place. */
  private def location(shards: SortedSet[StreamShard]): Option[String] =
    if (context.isLocal) None
    else
      shards.toVector
        .flatMap(coordinator.location(_))
        .groupBy(identity)
        .toVector
        .sortBy { case (place, all) => (-all.size, place) }
        .headOption
        .map { case ((host, id), _) => Executors.location(host, id) }

  /**
   * A batch has ended.
   *
   * @param withJoined adds the streams that the query reads since this run
   * @param confirmationPeriod see [[LiveEnds.joined]]
   */
  def merge(
      ends: Seq[RealTimeEnd],
      withJoined: SourceOffset => SourceOffset,
      confirmationPeriod: FiniteDuration
  ): SourceOffset = {
    val before = planned.getOrElse(sys.error("No real-time batch is running."))
    planned = None
    coordinator.finish()
    val all = ends.flatMap(_.ends)
    // Rows of a task whose end is missing would be read again, although nothing has failed.
    if (all.map(_.shard).sorted != before.shards)
      throw ConnectorError(
        "KINESIS_INTERNAL_ERROR",
        s"A real-time batch of $names read ${before.shards.size} shards, but Spark has the ends of " +
          s"${all.size}. The batch runs again after a restart. Please report this error."
      )
    limitTasks(ends)
    closedShards += all.count(_.upTo == Progress.Finished)
    partial = all.flatMap(end => end.partial.map(it => end.shard -> (end.upTo -> it))).toMap
    LiveEnds.joined(withJoined(before.start), all, confirmationPeriod)
  }

  /** If tasks found no slot, the next batches have only as many tasks as have run. */
  private def limitTasks(ends: Seq[RealTimeEnd]): Unit = {
    val idle = ends.count(end => !end.hasRun && !end.isRetry)
    val ran = ends.size - idle
    if (idle > 0 && ran > 0 && !coordinator.isCutShort) {
      limit = Some(Limit(ran, SystemClock.elapsedMillis))
      log.warn(
        s"$idle of ${ends.size} tasks of a real-time batch of $names did not run, because no slot was " +
          s"free. For $LimitPeriod, batches have $ran tasks. Give the application more cores, or set option " +
          "'maxPartitions' to the number of slots that are free for this source."
      )
    }
  }

  /** @throws ConnectorError if an executor reported a failure that retries cannot fix */
  def checkFailure(): Unit = statuses.check(coordinator.failure, coordinator.crash)

  /** See [[SourceProgress.of]]. */
  def metrics(offset: SourceOffset, lost: Long, failedListings: Long): Map[String, String] = {
    val counters = coordinator.counters
    val frontiers = coordinator.frontiers
    val unfinished = offset.settled.streams.valuesIterator.map(_.shards.size).sum
    val open = offset.readable.size
    SourceProgress.of(
      run.streams.keySet,
      frontiers,
      ShardCounts(open.toLong, closedShards, (unfinished - open).toLong, frontiers.size.toLong),
      counters.copy(lostRanges = counters.lostRanges + lost),
      failedListings,
      coordinator.longestSilence(SystemClock.steady)
    )
  }

  /** Tells every executor to stop, waits up to a second for its next status, and closes the endpoint. */
  override def close(): Unit = {
    coordinator.stop()
    try coordinator.awaitStopped(Goodbye, () => SystemClock.steady)
    catch { case _: InterruptedException => Thread.currentThread.interrupt() }
    ofQuery.computeIfPresent(query, (_, all) => Some(all - this).filter(_.nonEmpty).orNull)
    endpoint.close()
  }
}

private object RealTimeBatches {
  private val Goodbye = 1.second

  /** How long a shard may be without a task. */
  private val Patience = 10.seconds

  /** The same with dynamic allocation, until executors have started. */
  private val StartPatience = 60.seconds

  /** The sources of each query. */
  private val ofQuery = new ConcurrentHashMap[String, Set[RealTimeBatches]]()

  private val NoShards = Vector(SortedSet.empty[StreamShard])

  /** For how long batches have no more tasks than have found a slot. */
  private val LimitPeriod = 5.minutes

  /** @param since in milliseconds of the clock */
  private final case class Planned(
      start: SourceOffset,
      partitions: Seq[RealTimePartition],
      since: Long
  ) {
    val shards: Seq[StreamShard] = partitions.flatMap(_.starts).map(_.shard).sorted
  }

  /**
   * @param tasks that can run at the same time
   * @param since when that was seen, in milliseconds of the clock
   */
  private final case class Limit(tasks: Int, since: Long)
}
