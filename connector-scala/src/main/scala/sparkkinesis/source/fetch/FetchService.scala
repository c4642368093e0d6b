package sparkkinesis.source.fetch

import java.time.Instant
import java.util.UUID
import java.util.concurrent._

import scala.util.control.NonFatal
import scala.util.{Failure, Success}

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, DaemonThreads, FanOutClient, Moment}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{StreamArn, StreamShard}
import sparkkinesis.shard.feed.{FeedCounts, ReadStep}
import sparkkinesis.shard.{FetchMemory, StreamClient}
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.{PageStore, SpillSpace}

/**
 * Reads ahead on one executor for one query run: carries out what [[FetchLoop]] decides, on daemon
 * threads. Ends when the query ends, when the driver does not answer for long, or with `close`.
 *
 * @param executor Spark's executor ID
 * @param host Spark's name of the executor's host
 * @param release returns the clients when the service closes
 * @param memory of this JVM, which its services share evenly
 * @param spill the disk of this JVM, which its services share evenly
 * @param onReport called with each report, on the thread that read the page
 */
private[sparkkinesis] final class FetchService(
    executor: String,
    host: String,
    streams: Map[StreamArn, StreamClient],
    release: () => Unit,
    settings: FetchSettings,
    link: HeartbeatLink,
    clock: Clock,
    memory: FetchMemory = new FetchMemory,
    spill: SpillSpace = SpillSpace.Off,
    onReport: FetchReport => Unit = _ => ()
) extends AutoCloseable {
  import FetchService._

  private val log = LoggerFactory.getLogger(classOf[FetchService])
  private val names = streams.values.map(_.ref).mkString(", ")
  private val heapBytes = Runtime.getRuntime.maxMemory
  private val capacity = FetchMemory.capacity(settings.bufferBytes, heapBytes)
  val store = new PageStore(memory.join(capacity), settings.spillBytes, spill)
  private val counts = new FeedCounts(clock)
  private val lock = new Object
  private val loop = new FetchLoop(
    executor,
    host,
    UUID.randomUUID.toString,
    names,
    settings,
    store,
    newFetcher,
    counts,
    () => clock.chance()
  )
  private val runs = new ThreadPoolExecutor( // one per shard, up to 256
    1,
    1,
    0,
    TimeUnit.SECONDS,
    new LinkedBlockingQueue[Runnable],
    DaemonThreads.named("spark-kinesis-fetch")
  )

  /** For ticks, and for the one heartbeat that may wait for its answer. */
  private val reports =
    new ScheduledThreadPoolExecutor(2, DaemonThreads.named("spark-kinesis-report"))
  reports.setRemoveOnCancelPolicy(true)
  private var nextTick = Option.empty[(Instant, ScheduledFuture[_])]

  def start(): this.type = {
    store.reads(anything = false) // until there is a plan
    FetchMemory.warning(settings.bufferBytes, heapBytes).foreach(log.warn)
    on(loop.tick)
    this
  }

  /** Counts a task that did not find its pages here. */
  def countReread(): Unit = lock.synchronized(loop.countReread())

  /** No task needs the pages of the shard up to there any more. */
  def drop(shard: StreamShard, upTo: Progress): Unit = on(loop.drop(shard, upTo, _))

  /** Asks for a new plan at once, because there may be one. */
  def hurry(): Unit = on(loop.hurry)

  def isRunning: Boolean = lock.synchronized(!loop.hasFinished)

  override def close(): Unit = on(_ => loop.finish())

  /** Something has happened. Nothing is called with the lock that waits. */
  private def on(event: Moment => Vector[FetchCommand]): Unit =
    lock
      .synchronized {
        // An error of a decision, too, ends the query: otherwise it would wait for pages for ever.
        try {
          val commands = event(clock.moment)
          schedule()
          commands
        } catch { case e: Throwable => loop.crash(e) }
      }
      .foreach(carryOut)

  private def carryOut(command: FetchCommand): Unit =
    try
      command match {
        case FetchCommand.Run(fetcher) => runs.execute(() => run(fetcher))
        case FetchCommand.Beat(status) => reports.execute(() => send(status))
        case FetchCommand.Finish => finish()
      }
    catch {
      case _: RejectedExecutionException => // closed
      // There is no memory for a thread. Each command has an answer all the same.
      case e: Throwable => on(_ => loop.crash(e))
    }

  /** Ticks when the next shard or heartbeat is due. */
  private def schedule(): Unit = for (at <- loop.wakeAt if !nextTick.exists(_._1 == at)) {
    nextTick.foreach(_._2.cancel(false))
    val wait = math.max(0L, at.toEpochMilli - clock.elapsedMillis)
    nextTick = Some(at -> reports.schedule((() => ticked()): Runnable, wait, TimeUnit.MILLISECONDS))
  }

  private def ticked(): Unit = on { now =>
    nextTick = None
    loop.tick(now)
  }

  private def newFetcher(assignment: Assignment, settings: FetchSettings): ShardFetcher = {
    lazy val fetcher: ShardFetcher = new ShardFetcher(
      streams(assignment.shard.stream),
      assignment,
      store,
      settings,
      () => clock.chance(),
      counts,
      // A thread of the network takes no lock.
      () =>
        try runs.execute(() => on(loop.news(fetcher, _)))
        catch { case _: RejectedExecutionException => } // closed
    )
    fetcher
  }

  private def run(fetcher: ShardFetcher): Unit = {
    val begin = clock.moment
    val result =
      try {
        val step = fetcher.run(begin)
        step match {
          case ReadStep.Read(page, _) => onReport(page.report)
          case _ =>
        }
        Success(step)
      } catch { case e: Throwable => Failure(e) }
    on(loop.ran(fetcher, result, begin, _))
  }

  private def send(status: Heartbeat): Unit =
    try {
      val reply =
        try Some(link.heartbeat(status))
        catch {
          case gone: QueryGone => throw gone
          case e @ (NonFatal(_) | _: InterruptedException) =>
            log.debug(s"The driver did not answer a heartbeat: ${e.getMessage}")
            None
        }
      reply.flatMap(_.plan).foreach(prepareFor)
      on(loop.replied(status, reply, _))
    } catch {
      case gone: QueryGone =>
        log.info(s"Stopped reading $names: ${gone.getMessage}")
        close()
      // Not thrown, because Spark ends an executor if one of its threads throws.
      case e: Throwable => on(_ => loop.crash(e))
    }

  /** Threads and memory for the shards of a plan. */
  private def prepareFor(plan: FetchPlan): Unit = {
    val subscribed = plan.assignments.count(it => streams(it.shard.stream).consumer.nonEmpty)
    val polled = plan.assignments.size - subscribed
    val threads = polled + math.min(subscribed, MostSubscribedThreads)
    val count = math.min(math.max(1, threads), MaxThreads)
    // In the order that keeps the least number of threads below the largest one.
    if (count > runs.getMaximumPoolSize) runs.setMaximumPoolSize(count)
    runs.setCorePoolSize(count)
    store.reads(plan.assignments.nonEmpty)
    store.setAside(subscribed.toLong * FanOutClient.SubscriptionBytes)
  }

  private def finish(): Unit = {
    runs.shutdownNow()
    try store.close()
    finally
      try release()
      finally reports.shutdownNow(): Unit // perhaps this thread
  }
}

private[sparkkinesis] object FetchService {

  /** One thread per shard, because a call that hangs occupies its thread until its timeout. */
  private val MaxThreads = 256

  /** Subscriptions make no call that waits, except now and then a listing. */
  private val MostSubscribedThreads = 8
}
