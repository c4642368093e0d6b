package sparkkinesis.source.fetch

import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, KinesisException}
import sparkkinesis.model.StreamArn
import sparkkinesis.source.StreamClient
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol._

/**
 * Reads ahead on one executor for one query run: takes shards from the driver, fetches their pages into
 * the buffer and reports how far it came. Holds daemon threads; ends with the query, when the driver
 * is silent for long, or by `close`.
 *
 * @param executor and host as Spark names them
 * @param release gives the clients back when the service closes
 * @param services of this executor, itself included, which share its memory evenly
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
    services: () => Int = () => 1
) extends AutoCloseable {
  import FetchService._

  private val log = LoggerFactory.getLogger(classOf[FetchService])
  private val pool = new ScheduledThreadPoolExecutor(threadsFor(1), daemon("spark-kinesis-fetch"))
  pool.setRemoveOnCancelPolicy(true)
  private val reporter = daemon("spark-kinesis-report").newThread(() => reportUntilStopped())

  private val news = new UnsentReports
  private var isClosed = false
  private var lastStatus = clock.now

  val buffer = new PageBuffer(part(settings.bufferBytes), part(PageBuffer.SpareBytes))
  private val fetchers = new ShardFetchers(
    buffer,
    assignment => {
      val stream = streams(assignment.shard.stream)
      new ShardFetcher(stream, assignment, buffer, settings, () => fetcherCount, chance)
    }
  )

  private def names = streams.values.map(_.ref).mkString(", ")

  def start(): this.type = {
    reporter.start()
    this
  }

  /** A task did not find its pages here. */
  def countReread(): Unit = tell(_.count(c => c.copy(rereadRanges = c.rereadRanges + 1)))

  def isRunning: Boolean = synchronized(!isClosed)

  override def close(): Unit = {
    val isFirst = synchronized {
      val wasOpen = !isClosed
      isClosed = true
      fetchers.clear()
      notifyAll()
      wasOpen
    }
    if (isFirst) {
      pool.shutdownNow()
      buffer.clear()
      if (Thread.currentThread ne reporter) reporter.interrupt()
      release()
    }
  }

  private def reportUntilStopped(): Unit = {
    var known = 0L
    var answered = clock.now
    try
      while (isRunning) {
        val status = nextStatus(known)
        answer(status) match {
          case Some(reply) =>
            answered = clock.now
            known = reply.version
            if (reply.isStopped) close() else reply.plan.foreach(apply)
          case None =>
            synchronized(news.giveBack(status.reports))
            if (clock.now.isAfter(answered.plusMillis(DriverPatience.toMillis))) {
              log.warn(
                s"The driver has not answered for $DriverPatience: no longer reading $names."
              )
              close()
            } else clock.sleep(HeartbeatPeriod)
        }
      }
    catch {
      case _: InterruptedException => // closed
      case gone: CoordinatorGone => log.info(s"No longer reading $names: ${gone.getMessage}")
      case NonFatal(e) => log.error(s"No longer reading $names.", e)
    } finally close()
  }

  private def answer(status: FetchStatus): Option[FetchReply] =
    try Some(link.heartbeat(status))
    catch {
      case gone: CoordinatorGone => throw gone
      case NonFatal(e) =>
        log.debug(s"The driver did not answer: ${e.getMessage}")
        None
    }

  /** Waits for news, but not longer than a heartbeat's period. */
  private def nextStatus(known: Long): FetchStatus = synchronized {
    if (!news.isUrgent && !isClosed) wait(HeartbeatPeriod.toMillis)
    lastStatus = clock.now
    val reports = news.take()
    val counters = news.counters.copy(bufferedBytes = buffer.bytes)
    FetchStatus(executor, host, reports, counters, news.failures.find(isCurrent), known)
  }

  private def apply(plan: FetchPlan): Unit = synchronized {
    pool.setCorePoolSize(threadsFor(plan.assignments.size))
    fetchers(plan).foreach(schedule(_, Duration.Zero))
  }

  private def part(bytes: Long): Long = bytes / math.max(1, services())

  private def fetcherCount: Int = synchronized(fetchers.size)

  private def schedule(fetcher: ShardFetcher, delay: FiniteDuration): Unit = synchronized {
    if (!isClosed)
      pool.schedule((() => step(fetcher)): Runnable, delay.toMicros, TimeUnit.MICROSECONDS)
  }

  /** Of a shard that is no longer assigned nobody wants to know. */
  private def isCurrent(failure: FetchFailure): Boolean =
    fetchers.isCurrent(failure.shard, failure.generation)

  private def step(fetcher: ShardFetcher): Unit =
    if (synchronized(fetchers.isCurrent(fetcher))) {
      val begun = clock.now
      try settle(fetcher, fetcher.step(begun), begun.toEpochMilli)
      catch {
        case _: InterruptedException => // closed: the pool ends
        // Whatever it is: the pool would swallow it, and the shard stop without a word.
        case e: Throwable if isRunning =>
          log.error(s"Reading ${fetcher.shard} failed.", e)
          val message = s"Reading ${fetcher.shard} failed: $e"
          tell(_.fail(FetchFailure(InternalError, message, fetcher.shard, fetcher.generation)))
        case NonFatal(_) => // calls on a closed client
      }
    }

  private def settle(fetcher: ShardFetcher, step: FetchStep, begun: Long): Unit =
    step match {
      case FetchStep.Fetched(report, records, pause, isNews) =>
        tell(_.report(report, records, isNews))
        val jittered = pause * (1 + JitterPart * chance())
        val spent = (clock.now.toEpochMilli - begun).millis
        schedule(fetcher, (jittered - spent).max(Duration.Zero).toMicros.micros)
      case FetchStep.Waits(pause) =>
        askForRoom()
        schedule(fetcher, pause)
      case FetchStep.Expired =>
        tell(_.count(c => c.copy(iteratorsExpired = c.iteratorsExpired + 1)))
        schedule(fetcher, Duration.Zero)
      case FetchStep.Retries(cause, delay) =>
        tell(_.count { c =>
          if (cause.isInstanceOf[KinesisException.Throttled]) c.copy(throttled = c.throttled + 1)
          else c.copy(retried = c.retried + 1)
        })
        schedule(fetcher, delay)
      case FetchStep.Fails(cause) =>
        val failure = FetchFailure.of(cause, fetcher.shard, fetcher.generation)
        log.warn(failure.message, cause) // the driver gets the words alone
        tell(_.fail(failure))
      case FetchStep.Loses(loss) =>
        val message = loss.getMessage
        tell(_.fail(FetchFailure("KINESIS_DATA_LOSS", message, fetcher.shard, fetcher.generation)))
      case FetchStep.Ended =>
    }

  /** Room comes with the driver's word that a batch is done: while there is none it is asked more often. */
  private def askForRoom(): Unit = synchronized {
    if (clock.now.isAfter(lastStatus.plusMillis(RoomPeriod.toMillis))) notifyAll()
  }

  private def tell(change: UnsentReports => Unit): Unit = synchronized {
    change(news)
    if (news.isUrgent) notifyAll()
  }
}

object FetchService {

  /** A shard asks at most five times a second: few threads serve many. */
  private def threadsFor(shards: Int): Int = math.min(math.max(4, shards), MaxThreads)

  private val MaxThreads = 32
  private val InternalError = "KINESIS_INTERNAL_ERROR"
  private val HeartbeatPeriod = 200.millis
  private val RoomPeriod = 50.millis

  /** Longer than a driver's pause for garbage, shorter than anyone would wait for threads to go. */
  private val DriverPatience = 60.seconds

  /** Spreads the calls to shards that began together. */
  private val JitterPart = 0.1

  private def daemon(name: String): java.util.concurrent.ThreadFactory = { task =>
    val thread = new Thread(task, name)
    thread.setDaemon(true)
    thread
  }
}
