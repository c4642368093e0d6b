package sparkkinesis.source

import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import sparkkinesis.client._

/** Lets each stream of a query be looked at, now and then, in daemon threads that end by `close`. */
final class WatchService(watches: Seq[StreamWatch], clock: Clock) extends AutoCloseable {
  import WatchService._

  private val log = LoggerFactory.getLogger(classOf[WatchService])
  private val pool = new ScheduledThreadPoolExecutor(
    math.max(1, math.min(watches.size, MaxThreads)),
    { task =>
      val thread = new Thread(task, "spark-kinesis-discovery")
      thread.setDaemon(true)
      thread
    }
  )
  pool.setExecuteExistingDelayedTasksAfterShutdownPolicy(false)
  watches.foreach(schedule(_, Duration.Zero))

  override def close(): Unit = {
    pool.shutdownNow()
    ()
  }

  private def schedule(watch: StreamWatch, delay: FiniteDuration): Unit =
    try {
      pool.schedule((() => look(watch)): Runnable, delay.toMillis, TimeUnit.MILLISECONDS)
      ()
    } catch { case _: java.util.concurrent.RejectedExecutionException => } // closed

  private def look(watch: StreamWatch): Unit =
    try schedule(watch, watch.look(clock.now))
    catch {
      case _: InterruptedException => // closed
      case NonFatal(_) if pool.isShutdown => // a call on a closed client
      case NonFatal(e) =>
        log.error("Looking at a stream's shards failed; it is tried again in a while.", e)
        schedule(watch, AfterError)
    }
}

object WatchService {

  /** One that does not answer holds a thread for as long as its client waits. */
  private val MaxThreads = 4
  private val AfterError = 1.minute
}
