package sparkkinesis.source.fetch

import java.util.UUID
import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, FanOutClient}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{StreamArn, StreamShard}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.feed.{FeedCounts, FetchStep, ReadStep}
import sparkkinesis.source.memory.FetchMemory
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.{PageStore, SpillSpace, StoreSizes}

/**
 * Reads ahead on one executor for one query run: receives shards from the driver, fetches their
 * pages into the store and reports progress. Owns daemon threads. Ends when the query ends, when
 * the driver does not answer for long, or with `close`.
 *
 * @param executor Spark's executor ID
 * @param host Spark's name of the executor's host
 * @param release returns the clients when the service closes
 * @param memory of this JVM, which its services share evenly
 * @param spill the disk of this JVM, which its services share evenly
 * @param onReport called with each report, on the thread that read the page
 */
final class FetchService(
    executor: String,
    host: String,
    streams: Map[StreamArn, StreamClient],
    release: () => Unit,
    settings: FetchSettings,
    link: CoordinatorLink,
    clock: Clock,
    chance: () => Double,
    memory: FetchMemory = new FetchMemory,
    spill: SpillSpace = SpillSpace.Off,
    onReport: FetchReport => Unit = _ => ()
) extends AutoCloseable {
  import FetchService._

  private val log = LoggerFactory.getLogger(classOf[FetchService])
  private val pool = new ScheduledThreadPoolExecutor(
    threadsFor(1),
    { task =>
      val thread = new Thread(task, "spark-kinesis-fetch")
      thread.setDaemon(true)
      thread
    }
  )
  pool.setRemoveOnCancelPolicy(true)
  private val id = UUID.randomUUID.toString
  private var isClosed = false
  private var queryShards = 1

  private val heapBytes = Runtime.getRuntime.maxMemory
  private val sizes = StoreSizes.of(settings.bufferBytes, settings.spillBytes, heapBytes)

  private val counts = new FeedCounts(clock)
  val store = new PageStore(memory.join(sizes.memory), sizes.disk, spill)
  private val fetchers: ShardFetchers = new ShardFetchers(
    store,
    assignment => {
      def isOldest(it: ShardFetcher) = synchronized(fetchers.isOldest(it))
      val ofShard = settings.copy(shards = queryShards)
      lazy val fetcher: ShardFetcher = new ShardFetcher(
        streams(assignment.shard.stream),
        assignment,
        store,
        ofShard,
        () => fetcherCount,
        chance,
        isOldest,
        counts,
        () => schedule(fetcher, Duration.Zero)
      )
      fetcher
    }
  )
  private val turns = new StepTurns(pool, step)
  private val waiting = new WaitingFetchers(store, () => mostBehind, schedule(_, Duration.Zero))
  private val reporter = new FetchReporter(
    streams.values.map(_.ref).mkString(", "),
    link,
    clock,
    status,
    lacksRoom = () => !waiting.isEmpty,
    onPlan = apply,
    onEnd = () => close()
  )

  def start(): this.type = {
    StoreSizes.warning(settings.bufferBytes, heapBytes).foreach(log.warn)
    // The timer starts first, because the reporter may close this service at once.
    pool.scheduleWithFixedDelay(() => waiting.wakeAll(), MaxWait, MaxWait, TimeUnit.MILLISECONDS)
    reporter.start()
    this
  }

  /** Counts a task that did not find its pages here. */
  def countReread(): Unit = count(c => c.copy(rereadRanges = c.rereadRanges + 1))

  /** No task needs the pages of the shard up to there any more. */
  def drop(shard: StreamShard, upTo: Progress): Unit = {
    store.dropUpTo(shard, upTo)
    waiting.wakeNext()
  }

  /** Asks for a new plan at once, because there may be one. */
  def hurry(): Unit = reporter.hurry()

  def isRunning: Boolean = synchronized(!isClosed)

  override def close(): Unit = {
    val isFirst = synchronized {
      val wasOpen = !isClosed
      isClosed = true
      fetchers.clear()
      wasOpen
    }
    if (isFirst) {
      turns.close()
      pool.shutdownNow()
      store.close()
      reporter.stop()
      release()
    }
  }

  private def status(unsent: UnsentReports, version: Long): FetchStatus = {
    val times = counts.times
    val counters = unsent.counters.copy(
      bufferedBytes = store.bytes,
      spilledBytes = store.spilledBytes,
      fullStores = if (store.isFull) 1 else 0,
      memoryBytes = store.memoryBytes,
      subscriptions = counts.subscriptions,
      renewals = counts.renewals,
      subscriptionsInUse = counts.refusals,
      pushedBytes = counts.pushedBytes,
      requests = times.counts.valuesIterator.sum,
      times = times
    )
    // A failure does not count once the shard is assigned to another executor.
    val failure = synchronized(unsent.failures.find { failure =>
      fetchers.isCurrent(failure.shard, failure.generation)
    })
    FetchStatus(executor, host, unsent.take(), counters, failure, version, unsent.crash, id)
  }

  private def apply(plan: FetchPlan): Unit = synchronized {
    val subscribed = plan.assignments.count(it => streams(it.shard.stream).consumer.nonEmpty)
    val polled = plan.assignments.size - subscribed
    pool.setCorePoolSize(threadsFor(polled + math.min(subscribed, MostSubscribedThreads)))
    queryShards = plan.shards
    store.setAside(subscribed.toLong * FanOutClient.SubscriptionBytes)
    fetchers(plan).foreach(schedule(_, Duration.Zero))
    waiting.wakeAll() // pages were dropped
  }

  private def fetcherCount: Int = synchronized(fetchers.size)

  /** The shard for which the others wait, with `maxShardSkew`. */
  private def mostBehind: Option[StreamShard] =
    settings.maxShardSkew.flatMap(_ => synchronized(fetchers.oldest)).map(_.shard)

  private def schedule(fetcher: ShardFetcher, delay: FiniteDuration): Unit =
    turns.schedule(fetcher, delay)

  private def step(fetcher: ShardFetcher): Unit = {
    // This comes before `isCurrent`. Otherwise a fetcher that a new plan has replaced could take
    // the place of its successor in `waiting`, and nobody would wake the successor.
    val wakes = waiting.wakes
    if (synchronized(fetchers.isCurrent(fetcher))) {
      val begin = clock.moment
      try {
        val result = fetcher.step(begin)
        if (result.hadRoom) waiting.wakeNext()
        handle(fetcher, result, begin.steady.toEpochMilli, wakes)
      } catch { // any error, because the pool would discard it and the shard would stop silently
        case e: Throwable => if (isRunning) stumble(fetcher, e)
      }
    }
  }

  private def stumble(fetcher: ShardFetcher, cause: Throwable): Unit = cause match {
    case _: InterruptedException => // not by `close`, so by a library
      log.warn(s"Reading ${fetcher.shard} was interrupted. It continues.")
      schedule(fetcher, InterruptionPause)
    case _ =>
      fetcher.close()
      log.error(s"Reading ${fetcher.shard} failed unexpectedly.", cause)
      fail(fetcher, InternalError, s"Reading ${fetcher.shard} failed: $cause")
  }

  private def handle(fetcher: ShardFetcher, step: FetchStep, begin: Long, wakes: Long): Unit =
    step match {
      case FetchStep.Fetched(report, records, pause, isUrgent) =>
        onReport(report)
        reporter.update(_.add(report, records, isUrgent))
        val jittered = pause * (1 + JitterFraction * chance())
        val spent = (clock.elapsedMillis - begin).millis
        schedule(fetcher, (jittered - spent).max(Duration.Zero).toMicros.micros)
      case FetchStep.Waits =>
        waiting.add(fetcher, wakes)
        reporter.askForRoom()
      case ReadStep.Paced(pause) => schedule(fetcher, pause)
      case ReadStep.Awaits(limit) => schedule(fetcher, limit)
      case ReadStep.Expired =>
        count(c => c.copy(iteratorsExpired = c.iteratorsExpired + 1))
        schedule(fetcher, Duration.Zero)
      case ReadStep.Retries(failure, delay) =>
        reporter.update(_.retry(failure))
        schedule(fetcher, delay)
      case ReadStep.Doubts(delay) => schedule(fetcher, delay)
      case ReadStep.Fails(cause) =>
        fetcher.close()
        val failure = FetchFailure.of(cause, fetcher.shard, fetcher.generation)
        log.warn(failure.message, cause) // the driver receives only the message
        reporter.update(_.fail(failure))
      case ReadStep.Loses(loss) =>
        fetcher.close()
        fail(fetcher, loss.condition, loss.getMessage)
      case ReadStep.Ended =>
    }

  private def fail(fetcher: ShardFetcher, condition: String, message: String): Unit =
    reporter.update(_.fail(FetchFailure(condition, message, fetcher.shard, fetcher.generation)))

  private def count(change: FetchCounters => FetchCounters): Unit = reporter.update(_.count(change))
}

object FetchService {

  /**
   * The number of threads: one per shard, because a call that hangs occupies its thread until its
   * timeout.
   */
  private def threadsFor(shards: Int): Int = math.min(math.max(1, shards), MaxThreads)

  private val MaxThreads = 256

  /** Subscriptions make no call that waits, except now and then a listing. */
  private val MostSubscribedThreads = 8
  private val InternalError = "KINESIS_INTERNAL_ERROR"
  private val InterruptionPause = 1.second

  /**
   * The longest wait in milliseconds, after which another service may have ended, or pages may go
   * to disk.
   */
  private val MaxWait = 200L

  /** Spreads the calls to shards whose reading started at the same time. */
  private val JitterFraction = 0.1
}
