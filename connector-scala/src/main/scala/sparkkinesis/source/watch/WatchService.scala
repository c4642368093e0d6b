package sparkkinesis.source.watch

import java.util.concurrent.{RejectedExecutionException, ScheduledThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import sparkkinesis.client.Clock
import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.{SourceOffset, StreamOffset}

/**
 * Lets each stream of a query be looked at, now and then, in daemon threads that end by `close`. What it
 * is asked it answers from the last looks.
 */
final class WatchService(watches: Map[StreamArn, StreamWatch], clock: Clock) extends AutoCloseable {
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
  private var hasBegun = false

  /**
   * The next batch begins there.
   *
   * @throws SourceException where a stream is another one, or a shard would be lost
   */
  def planned(begin: SourceOffset): Unit = {
    each(begin)(_.planned(_))
    if (!hasBegun) watches.values.foreach(schedule(_, Duration.Zero))
    hasBegun = true
    watches.values.foreach(_.check())
  }

  /** See [[StreamWatch.mended]]; `end` itself where nothing is amiss. */
  def mended(end: SourceOffset): SourceOffset =
    end.transform((arn, known) => watches.get(arn).fold(known)(_.mended(known)))

  /** See [[StreamWatch.hasSettled]]; may call the service. */
  def hasSettled(begin: SourceOffset): Boolean =
    begin.streams.forall { case (arn, known) =>
      watches.get(arn).forall(_.hasSettled(known, clock.now))
    }

  /** After a failure elsewhere: throws what explains it better, if a stream was deleted or made again. */
  def explain(begin: SourceOffset): Unit = each(begin)(_.explain(_))

  def lostRanges: Long = watches.values.map(_.lostRanges).sum

  def failedListings: Long = watches.values.map(_.failedListings).sum

  override def close(): Unit = {
    pool.shutdownNow()
    ()
  }

  private def each(offset: SourceOffset)(action: (StreamWatch, StreamOffset) => Unit): Unit =
    for {
      (arn, known) <- offset.streams
      watch <- watches.get(arn)
    } action(watch, known)

  private def schedule(watch: StreamWatch, delay: FiniteDuration): Unit =
    try {
      pool.schedule((() => look(watch)): Runnable, delay.toMillis, TimeUnit.MILLISECONDS)
      ()
    } catch { case _: RejectedExecutionException => } // closed

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

  /** A service that does not answer holds a thread for as long as its client waits. */
  private val MaxThreads = 4
  private val AfterError = 1.minute
}
