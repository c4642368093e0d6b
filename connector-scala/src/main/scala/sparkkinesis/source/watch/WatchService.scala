package sparkkinesis.source.watch

import java.util.concurrent.{RejectedExecutionException, ScheduledThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import sparkkinesis.client.Clock
import sparkkinesis.model.StreamArn
import sparkkinesis.model.offset.{SourceOffset, StreamOffset}

/**
 * Inspects each stream of a query at regular intervals, in daemon threads that end with `close`.
 * Its methods return or throw what the last inspections found; only `explain` calls Kinesis.
 *
 * @param afterEach called in these threads after each inspection of a stream
 */
final class WatchService(
    watches: Map[StreamArn, StreamWatch],
    clock: Clock,
    afterEach: () => Unit = () => ()
) extends AutoCloseable {
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
  private var isStarted = false

  /**
   * Sets where the next batch starts. The first call starts the inspections.
   *
   * @throws SourceException as [[StreamWatch.check]]
   */
  def advance(start: SourceOffset): Unit = {
    watched(start).foreach { case (watch, offset) => watch.advance(offset) }
    if (!isStarted) watches.values.foreach(schedule(_, Duration.Zero))
    isStarted = true
    watches.values.foreach(_.check())
  }

  /** Whether `advance` throws. */
  def hasFailed: Boolean = watches.values.exists(_.hasFailed)

  /** See [[StreamWatch.repair]]. */
  def repair(end: SourceOffset): SourceOffset =
    end.transform((arn, offset) => watches.get(arn).fold(offset)(_.repair(offset)))

  /** See [[StreamWatch.isSettled]]. */
  def isSettled(start: SourceOffset): Boolean =
    watched(start).forall { case (watch, _) => watch.isSettled }

  /** See [[StreamWatch.explain]]. */
  def explain(start: SourceOffset): Unit =
    watched(start).foreach { case (watch, offset) => watch.explain(offset) }

  def lostRanges: Long = watches.values.map(_.lostRanges).sum

  def failedListings: Long = watches.values.map(_.failedListings).sum

  override def close(): Unit = {
    pool.shutdownNow()
    ()
  }

  private def watched(offset: SourceOffset): Seq[(StreamWatch, StreamOffset)] =
    for {
      (arn, known) <- offset.streams.toSeq
      watch <- watches.get(arn)
    } yield watch -> known

  private def schedule(watch: StreamWatch, delay: FiniteDuration): Unit =
    try {
      pool.schedule((() => inspect(watch)): Runnable, delay.toMillis, TimeUnit.MILLISECONDS)
      ()
    } catch { case _: RejectedExecutionException => } // closed

  private def inspect(watch: StreamWatch): Unit =
    try {
      val pause = watch.inspect(clock.steady)
      afterEach()
      schedule(watch, pause)
    } catch {
      case _: Throwable if pool.isShutdown => // an interrupt, or a call on a closed client
      case e @ (NonFatal(_) | _: InterruptedException) => // by a library
        log.error("Inspecting a stream's shards failed unexpectedly.", e)
        schedule(watch, watch.retry(e))
      case e: Throwable => // the pool would discard it, and the query would miss shards silently
        log.error("Inspecting a stream's shards failed.", e)
        watch.crashed(e)
    }
}

object WatchService {

  /** A call without an answer occupies a thread until its client gives up. */
  private val MaxThreads = 4
}
