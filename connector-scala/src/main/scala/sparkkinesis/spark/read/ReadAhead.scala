package sparkkinesis.spark.read

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.{DriverRpc, Executors}

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.plan.{BatchPlanner, FetchCoordinator, RangePacking}
import sparkkinesis.source.protocol.{FetchStatus, Frontier, ReadLimits, ShardRange}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.SourceProgress

/**
 * The driver's end of reading ahead: starts the executors' fetch services, answers them, and knows what
 * they have. Used by the query's thread, but for the answers.
 *
 * @param firstLook how long the first batch waits for its shards to be read at all
 */
final class ReadAhead(
    context: SparkContext,
    run: FetchRun,
    firstLook: FiniteDuration = ReadAhead.FirstLook
) {
  import ReadAhead._

  private val log = LoggerFactory.getLogger(classOf[ReadAhead])
  private val coordinator = new FetchCoordinator(Lease)
  private val senders = new java.util.concurrent.ConcurrentHashMap[String, String]()
  private val starter = new ServiceStarter(context, run)
  private var endpoint = Option.empty[AutoCloseable]
  private var hasBegun = false

  /** The next batch will begin at `from`: fetchers run, and have looked at every shard once. */
  def begin(from: SourceOffset): Unit = {
    serve()
    coordinator.advance(from, from, SystemClock.now)
    starter.startMissing(SystemClock.now, coordinator.live(SystemClock.now))
    awaitBeginning()
    coordinator.failure.foreach(cause => throw ConnectorError(cause.condition, cause.message))
  }

  private def awaitBeginning(): Unit =
    if (!hasBegun) {
      // The first trigger would otherwise find nothing, and with a long interval wait for the second.
      if (!awaitFirstLook())
        log.warn(
          s"No shard of ${run.options.names} could be read within $firstLook; still trying."
        )
      hasBegun = true
    }

  /** In short steps, to hear of it where no service can start at all. */
  private def awaitFirstLook(): Boolean = {
    val end = SystemClock.now.plusMillis(firstLook.toMillis)
    var hasLooked = false
    while (!hasLooked && SystemClock.now.isBefore(end)) {
      starter.check()
      hasLooked = coordinator.awaitFirstLook(NewsWait, () => SystemClock.now)
    }
    hasLooked
  }

  /** Waits a moment for an executor to report. */
  def awaitNews(): Unit = coordinator.awaitNews(NewsWait)

  /**
   * The frontiers, after a wait of a moment where a backlog has only begun to come in: every batch costs Spark some tenths of a
   * second, the smallest too.
   */
  def frontiers(limits: ReadLimits): Map[StreamShard, Frontier] = {
    // Most of the half that one shard may fill alone, beside others; the rest is room to read on.
    val enough = run.options.fetch.bufferBytes * 3 / 8
    val end = SystemClock.now.plusMillis(BacklogWait.toMillis)
    @tailrec def ripe(found: Map[StreamShard, Frontier]): Map[StreamShard, Frontier] =
      if (BatchPlanner.isThin(found, limits, enough) && SystemClock.now.isBefore(end)) {
        awaitNews()
        ripe(frontiers)
      } else found
    ripe(frontiers)
  }

  /** A batch is planned: reading goes on from its end. */
  def planned(from: SourceOffset, upTo: SourceOffset): Unit = {
    serve()
    coordinator.advance(from, upTo, SystemClock.now)
  }

  def frontiers: Map[StreamShard, Frontier] = coordinator.frontiers

  /** Few tasks, each where the pages are. */
  def partitions(ranges: Seq[ShardRange]): Seq[KinesisInputPartition] =
    RangePacking
      .pack(
        coordinator.located(ranges.toVector),
        context.defaultParallelism,
        run.options.minPartitions.getOrElse(1)
      )
      .map { case (location, packed) =>
        // Within one JVM there is no other place to prefer.
        val places = location.filterNot(_ => context.isLocal).map { case (host, id) =>
          Executors.location(host, id)
        }
        KinesisInputPartition(packed, places.toSeq)
      }

  /**
   * For the query's progress.
   *
   * @param lost ranges that the driver has found missing
   * @param failedListings of a stream's shards
   */
  def metrics(lost: Long, failedListings: Long): Map[String, String] = {
    val counters = coordinator.counters
    SourceProgress.of(
      run.streams.keySet,
      coordinator.frontiers,
      coordinator.shardCounts,
      counters.copy(lostRanges = counters.lostRanges + lost),
      failedListings
    )
  }

  /** Tells every executor, waits a moment for it to hear, then answers no more. */
  def stop(): Unit = {
    starter.close()
    endpoint.foreach { open =>
      coordinator.stop()
      try coordinator.awaitGoodbyes(Goodbye, () => SystemClock.now)
      catch { case _: InterruptedException => Thread.currentThread.interrupt() }
      open.close()
    }
    endpoint = None
  }

  /** From the first batch on, whether planned by this run or by one before it. */
  private def serve(): Unit =
    if (endpoint.isEmpty) endpoint = Some(DriverRpc.serve(run.id)(answer)(lost))

  private def answer(sender: String, question: Array[Byte]): Array[Byte] = {
    val status = FetchRun.decode[FetchStatus](question)
    senders.put(sender, status.executor)
    FetchRun.encode(coordinator.heartbeat(status, SystemClock.now))
  }

  private def lost(sender: String): Unit =
    Option(senders.remove(sender)).foreach { executor =>
      log.info(s"Executor $executor is gone: its shards of ${run.options.names} go to others.")
      coordinator.executorLost(executor, SystemClock.now)
    }
}

object ReadAhead {

  /** An executor silent for longer loses its shards; heartbeats come at least five times a second. */
  private val Lease = 10.seconds
  private val NewsWait = 100.millis
  private val BacklogWait = 200.millis
  private val FirstLook = 10.seconds
  private val Goodbye = 2.seconds
}
