package sparkkinesis.spark.read.realtime

import java.time.Instant
import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.Executors

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.plan.ShardCounts
import sparkkinesis.source.realtime._
import sparkkinesis.spark.metrics.SourceProgress
import sparkkinesis.spark.read.task.{FetchRun, StatusEndpoint}

/**
 * The driver's side of a query in real-time mode: plans the tasks of each batch, joins their ends
 * to the offset of the next one, and answers the executors meanwhile. The query's thread uses it;
 * Spark's RPC threads call it to answer.
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
  private val query = Option(context.getLocalProperty("spark.jobGroup.id")).getOrElse(run.id)
  private val patience = if (Executors.areDynamic(context)) StartPatience else LiveBatches.Patience
  private val coordinator = new LiveCoordinator(patience, () => isOver)
  private val batches = new LiveBatches(run.options.names, coordinator, mostTasks, SystemClock)
  private val endpoint = new StatusEndpoint(run, coordinator)
  private var planned = 0L // number of the last batch
  endpoint.open()
  ofQuery.merge(query, Set(this), (all, more) => all ++ more)

  /** Spark ends a batch when the tasks of all sources have ended. */
  private def isOver: Boolean =
    wantsEnd() || endpoint.hasOtherVersion || batches.hasMoreSlots ||
      ofQuery.getOrDefault(query, Set.empty).exists(it => (it ne this) && it.coordinator.isEnding)

  /**
   * The tasks of the batch that begins there. Spark asks several times, so they are planned once.
   *
   * @param endsAtOnce whether another batch should begin as soon as possible
   */
  def partitions(start: SourceOffset, endsAtOnce: Boolean): Seq[RealTimePartition] = {
    val batch = batches.batch(start, endsAtOnce)
    if (batch.number != planned) {
      planned = batch.number
      log.info(
        s"Real-time batch $planned of ${run.options.names} reads ${batch.shards.size} shards in " +
          s"${batch.tasks.count(_.nonEmpty)} tasks."
      )
    }
    batch.tasks.map(starts => RealTimePartition(batch.number, starts, location(starts).toSeq))
  }

  private def mostTasks(shards: Int): Int = {
    // With dynamic allocation, Spark adds executors for tasks that wait.
    val wanted = if (Executors.areDynamic(context)) shards else Executors.slots(context)
    run.options.maxPartitions.fold(wanted)(math.min(wanted, _))
  }

  /** The executor that reads most of these shards. In local mode there is only one place. */
  private def location(starts: Seq[ShardStart]): Option[String] =
    if (context.isLocal) None
    else
      starts.toVector
        .flatMap(start => coordinator.location(start.shard))
        .groupBy(identity)
        .toVector
        .sortBy { case (place, all) => (-all.size, place) }
        .headOption
        .map { case ((host, id), _) => Executors.location(host, id) }

  /** A batch has ended: see [[LiveBatches.end]]. */
  def merge(
      ends: Seq[RealTimeEnd],
      withJoined: SourceOffset => SourceOffset,
      confirmationPeriod: FiniteDuration
  ): SourceOffset = batches.end(ends.map(_.end), withJoined, confirmationPeriod)

  /**
   * Throws an error that names a failure of an executor, if there is one that retries cannot fix.
   */
  def checkFailure(): Unit = endpoint.check()

  /** See [[SourceProgress.of]]. */
  def metrics(
      offset: SourceOffset,
      lost: Long,
      failedListings: Long,
      toExpiry: Option[FiniteDuration]
  ): Map[String, String] = {
    val counters = coordinator.counters
    val frontiers = coordinator.frontiers
    val unfinished = offset.settled.streams.valuesIterator.map(_.shards.size).sum
    val open = offset.readable.size
    SourceProgress.of(
      run.streams.keySet,
      frontiers,
      ShardCounts(
        open.toLong,
        batches.closedShards,
        (unfinished - open).toLong,
        frontiers.size.toLong
      ),
      counters.copy(lostRanges = counters.lostRanges + lost),
      failedListings,
      coordinator.longestSilence,
      coordinator.recentCounters,
      toExpiry
    )
  }

  /** Since when each shard has had records that were not read, at the earliest. */
  def unread: Map[StreamShard, Instant] = coordinator.unread

  /** See [[StatusEndpoint.close]]. */
  override def close(): Unit = {
    ofQuery.computeIfPresent(query, (_, all) => Some(all - this).filter(_.nonEmpty).orNull)
    endpoint.close()
  }
}

private object RealTimeBatches {

  /**
   * How long a shard may be without a task with dynamic allocation, until executors have started.
   */
  private val StartPatience = 60.seconds

  /** The sources of each query. */
  private val ofQuery = new ConcurrentHashMap[String, Set[RealTimeBatches]]()
}
