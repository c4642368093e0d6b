package sparkkinesis.source.fetch

import java.time.Instant
import java.util.UUID
import java.util.concurrent.{LinkedBlockingQueue, RejectedExecutionException}
import java.util.concurrent.{ThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._
import scala.util.control.NonFatal
import scala.util.{Failure, Success}

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, FanOutClient, Moment, Timer}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{StreamArn, StreamShard}
import sparkkinesis.source.StreamClient
import sparkkinesis.source.feed.{FeedCounts, FetchStep}
import sparkkinesis.source.memory.FetchMemory
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol._
import sparkkinesis.source.store.{PageStore, SpillSpace, StoreSizes}

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
  private val names = streams.values.map(_.ref).mkString(", ")
  private val heapBytes = Runtime.getRuntime.maxMemory
  private val sizes = StoreSizes.of(settings.bufferBytes, settings.spillBytes, heapBytes)
  val store = new PageStore(memory.join(sizes.memory), sizes.disk, spill)
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
    chance
  )
  private var tickAt = Option.empty[Instant] // when the timer calls next; guarded by the lock
  private val runs = daemons("spark-kinesis-fetch", 1) // one per shard, up to 256
  private val beats = daemons("spark-kinesis-report", 1)

  def start(): this.type = {
    StoreSizes.warning(settings.bufferBytes, heapBytes).foreach(log.warn)
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
        val commands =
          try event(clock.moment)
          catch { case e: Throwable => loop.crash(e) }
        schedule()
        commands
      }
      .foreach(carryOut)

  private def carryOut(command: FetchCommand): Unit = command match {
    case FetchCommand.Run(fetcher) => execute(runs)(run(fetcher))
    case FetchCommand.Beat(status) => execute(beats)(send(status))
    case FetchCommand.Finish => finish()
  }

  private def execute(pool: ThreadPoolExecutor)(task: => Unit): Unit =
    try pool.execute(() => task)
    catch { case _: RejectedExecutionException => } // closed

  /** The timer of the JVM ticks when the next shard or heartbeat is due, unless it is early anyway. */
  private def schedule(): Unit = for (at <- loop.wakeAt if tickAt.forall(at.isBefore)) {
    tickAt = Some(at)
    val millis = math.max(0L, at.toEpochMilli - clock.elapsedMillis)
    Timer.later(millis.millis, () => ticked(at))
  }

  private def ticked(at: Instant): Unit = {
    lock.synchronized { if (tickAt.contains(at)) tickAt = None }
    on(loop.tick)
  }

  private def newFetcher(assignment: Assignment, settings: FetchSettings): ShardFetcher = {
    lazy val fetcher: ShardFetcher = new ShardFetcher(
      streams(assignment.shard.stream),
      assignment,
      store,
      settings,
      chance,
      counts,
      // A thread of the network takes no lock.
      () => execute(runs)(on(loop.news(fetcher, _)))
    )
    fetcher
  }

  private def run(fetcher: ShardFetcher): Unit = {
    val begin = clock.moment
    val result =
      try {
        val step = fetcher.run(begin)
        step match {
          case FetchStep.Fetched(report, _, _, _) => onReport(report)
          case _ =>
        }
        Success(step)
      } catch { case e: Throwable => Failure(e) }
    on(loop.ran(fetcher, result, begin, _))
  }

  private def send(status: FetchStatus): Unit =
    try {
      val reply =
        try Some(link.heartbeat(status))
        catch {
          case gone: CoordinatorGone => throw gone
          case e @ (NonFatal(_) | _: InterruptedException) =>
            log.debug(s"The driver did not answer a heartbeat: ${e.getMessage}")
            None
        }
      reply.flatMap(_.plan).foreach(prepareFor)
      on(loop.replied(reply, _))
    } catch {
      case gone: CoordinatorGone =>
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
    store.setAside(subscribed.toLong * FanOutClient.SubscriptionBytes)
  }

  private def finish(): Unit = {
    runs.shutdownNow()
    beats.shutdownNow()
    store.close()
    release()
  }
}

object FetchService {

  /** One thread per shard, because a call that hangs occupies its thread until its timeout. */
  private val MaxThreads = 256

  /** Subscriptions make no call that waits, except now and then a listing. */
  private val MostSubscribedThreads = 8

  private def daemons(name: String, count: Int) = new ThreadPoolExecutor(
    count,
    count,
    0,
    TimeUnit.SECONDS,
    new LinkedBlockingQueue[Runnable],
    (task: Runnable) => {
      val thread = new Thread(task, name)
      thread.setDaemon(true)
      thread
    }
  )
}
