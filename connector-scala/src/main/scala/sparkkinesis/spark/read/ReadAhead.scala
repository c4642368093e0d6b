package sparkkinesis.spark.read

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.Executors

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.plan.{FetchCoordinator, RangePacking}
import sparkkinesis.source.protocol._
import sparkkinesis.spark.metrics.SourceProgress
import sparkkinesis.spark.read.task.{FetchRun, KinesisInputPartition, StatusEndpoint}

/**
 * The driver's side of reading ahead. Starts the fetch services of executors, answers their
 * heartbeats and knows which pages they hold. The query's thread uses it; Spark's RPC threads call
 * it to answer.
 *
 * @param firstLook how long the first batch waits for a first page of its shards
 * @param lease an executor without a heartbeat for this time loses its shards
 */
final class ReadAhead(
    context: SparkContext,
    run: FetchRun,
    firstLook: FiniteDuration = ReadAhead.FirstLook,
    lease: FiniteDuration = ReadAhead.Lease
) extends BatchEndFinder.Ahead {
  private val log = LoggerFactory.getLogger(classOf[ReadAhead])
  private val coordinator = new FetchCoordinator(lease, run.options.fetch.joinedMark)
  private val endpoint = new StatusEndpoint(run, coordinator)
  private val starter = new ServiceStarter(context, run)
  private var hasWaited = false // for first pages, since no shard was read
  private val timing =
    new BatchTiming(run.options.names, coordinator, SystemClock, () => checkFailure())

  /**
   * Reading continues at `tip`. Executors drop the pages before `pagesFrom`. The only place that
   * moves the coordinator.
   */
  def advance(pagesFrom: SourceOffset, tip: SourceOffset): Unit = {
    endpoint.open()
    coordinator.advance(pagesFrom, tip)
  }

  /**
   * Starts the services that are missing. If no shard is read, because the query begins or has lost
   * its executors, it waits for first pages, but only once.
   */
  def ensureServices(): Unit = {
    starter.startMissing(coordinator)
    if (frontiers.nonEmpty) hasWaited = false
    else if (!hasWaited) {
      // Without the wait this trigger would find nothing, and a long interval would delay the next
      // one.
      if (!awaitFirstLook() && frontiers.isEmpty)
        log.warn(
          s"No shard of ${run.options.names} could be read within $firstLook. The query keeps " +
            "trying."
        )
      hasWaited = true
    }
  }

  /** @throws ConnectorError if an executor reported a failure that retries cannot fix */
  def checkFailure(): Unit = endpoint.check()

  /** Waits in short steps, so that an error shows if no service can start at all. */
  private def awaitFirstLook(): Boolean = {
    val end = firstLook.fromNow
    var hasLooked = false
    while (!hasLooked && end.hasTimeLeft()) {
      starter.check()
      checkFailure()
      // Shards that must advance together wait for each other.
      val ofAll = run.options.fetch.maxShardSkew.nonEmpty
      hasLooked = coordinator.awaitFirstLook(BatchTiming.NewsWait, ofAll)
    }
    hasLooked
  }

  override def awaitNews(): Unit = timing.awaitNews()

  override def frontiers(limits: ReadLimits): Map[StreamShard, Frontier] = timing.frontiers(limits)

  /** A batch is done. */
  def batchDone(): Unit = timing.done()

  override def foundEnd(end: SourceOffset): Unit = {
    timing.found()
    coordinator.foundEnd(end)
  }

  override def frontiers: Map[StreamShard, Frontier] = coordinator.frontiers

  /** Packs the ranges of a batch into few tasks, each on the executor that holds the pages. */
  def partitions(ranges: Seq[ShardRange]): Seq[KinesisInputPartition] = {
    timing.planned()
    RangePacking
      .pack(
        coordinator.located(ranges.toVector),
        run.options.maxPartitions.fold(context.defaultParallelism)(
          math.min(context.defaultParallelism, _)
        ),
        run.options.minPartitions.getOrElse(1)
      )
      .map { case (location, packed) =>
        // In local mode there is only one place.
        val places = location.filterNot(_ => context.isLocal).map { case (host, id) =>
          Executors.location(host, id)
        }
        KinesisInputPartition(packed, places.toSeq)
      }
  }

  /**
   * The metrics of the source in the query's progress.
   *
   * @param lost ranges of which the driver has found records missing
   * @param failedListings failed calls that list shards
   * @param toExpiry the time until the first record expires that was not processed
   */
  def metrics(
      lost: Long,
      failedListings: Long,
      toExpiry: Option[FiniteDuration]
  ): Map[String, String] = {
    val counters = coordinator.counters
    SourceProgress.of(
      run.streams.keySet,
      coordinator.frontiers,
      coordinator.shardCounts,
      counters.copy(lostRanges = counters.lostRanges + lost),
      failedListings,
      coordinator.longestSilence,
      coordinator.recentCounters,
      toExpiry
    )
  }

  /** Since when each shard has had records that were not processed, at the earliest. */
  def unread: Map[StreamShard, Instant] = coordinator.unread

  /** See [[StatusEndpoint.close]]. */
  def stop(): Unit = {
    starter.close()
    endpoint.close()
  }
}

object ReadAhead {

  /**
   * The lease of an executor, which counts only while the driver runs. Executors send at least five
   * heartbeats per second. With the ticks, a dead executor has no shards after 11 s.
   */
  private val Lease = 10.seconds
  private val FirstLook = 10.seconds
}
