package sparkkinesis.source.fetch

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import sparkkinesis.client.Clock
import sparkkinesis.source.protocol._

/**
 * Sends an executor's reports to the driver and passes on the plans in its answers. Owns one daemon
 * thread, which calls the functions below; any thread may call the methods.
 *
 * @param streams names for the log
 * @param status from the unsent reports and the version of the last plan
 * @param lacksRoom whether shards wait for room in the store
 * @param onPlan called with each new plan
 * @param onEnd called when the query has ended or the driver does not answer any more
 */
private[source] final class FetchReporter(
    streams: String,
    link: CoordinatorLink,
    clock: Clock,
    status: (UnsentReports, Long) => FetchStatus,
    lacksRoom: () => Boolean,
    onPlan: FetchPlan => Unit,
    onEnd: () => Unit
) {
  import FetchReporter._

  private val log = LoggerFactory.getLogger(classOf[FetchReporter])
  private val unsent = new UnsentReports
  private var isStopped = false
  private var version = 0L // of the last plan; only the thread uses it
  private var lastStatusAt = Option.empty[Long] // in milliseconds of the clock
  private val thread = new Thread(() => run(), "spark-kinesis-report")
  thread.setDaemon(true)

  def start(): Unit = thread.start()

  def stop(): Unit = {
    synchronized {
      isStopped = true
      notifyAll()
    }
    if (Thread.currentThread ne thread) thread.interrupt()
  }

  /** Adds to the next report, and sends it soon if it is urgent. */
  def update(change: UnsentReports => Unit): Unit = synchronized {
    change(unsent)
    if (unsent.isUrgent) notifyAll()
  }

  /**
   * A shard waits for room, so the driver is asked more often whether a batch is done. Only then
   * are its pages dropped.
   */
  def askForRoom(): Unit = synchronized(notifyAll())

  /** The next heartbeat is due now. */
  def hurry(): Unit = synchronized {
    lastStatusAt = None
    notifyAll()
  }

  private def run(): Unit =
    try while (isRunning) reportUntilInterrupted()
    catch {
      case gone: CoordinatorGone => log.info(s"Stopped reading $streams: ${gone.getMessage}")
      // Any error ends the service: otherwise the query would wait for pages that never arrive.
      case e: Throwable => crash(e)
    } finally onEnd()

  /** Reports until an interrupt, which may come from a library, too. */
  private def reportUntilInterrupted(): Unit =
    try reportUntilStopped()
    catch { case _: InterruptedException => () }

  /**
   * The driver fails the query with the reason. If it does not receive it, it starts another
   * service. Throws nothing, because Spark ends an executor if one of its threads throws.
   */
  private def crash(cause: Throwable): Unit = {
    log.error(s"Stopped reading $streams after an unexpected error.", cause)
    try {
      val last = synchronized {
        unsent.crash(s"Reading ahead of $streams ended unexpectedly: $cause")
        status(unsent, version)
      }
      send(last): Unit
    } catch {
      case e: Throwable => log.warn(s"The driver cannot learn why $streams is not read: $e")
    }
  }

  private def reportUntilStopped(): Unit = {
    var answeredAt = clock.steady
    while (isRunning) {
      val current = nextStatus()
      sendAll(current) match {
        case Some(reply) =>
          answeredAt = clock.steady
          if (reply.isStopped) onEnd() else reply.plan.foreach(onPlan)
          version = reply.version // only now: a plan that was interrupted is sent again
        case None =>
          if (clock.steady.isAfter(answeredAt.plusMillis(DriverPatience.toMillis))) {
            log.warn(s"Stopped reading $streams: the driver did not answer for $DriverPatience.")
            onEnd()
          } else clock.sleep(HeartbeatPeriod)
      }
    }
  }

  /** Keeps the reports for the next status if there is no answer. */
  private def sendAll(status: FetchStatus): Option[FetchReply] = {
    var reply = Option.empty[FetchReply]
    try reply = send(status)
    finally if (reply.isEmpty) synchronized(unsent.giveBack(status.reports))
    reply
  }

  private def isRunning: Boolean = synchronized(!isStopped)

  /** Waits for the time since the last heartbeat that what it has to send allows. */
  private def nextStatus(): FetchStatus = synchronized {
    var rest = millisToNext
    while (rest > 0 && !isStopped) {
      clock.await(this, rest)
      rest = millisToNext
    }
    lastStatusAt = Some(clock.elapsedMillis)
    status(unsent, version)
  }

  private def millisToNext: Long = lastStatusAt.fold(0L) { last =>
    val period =
      if (unsent.isUrgent) UrgentPeriod else if (lacksRoom()) RoomPeriod else HeartbeatPeriod
    last + period.toMillis - clock.elapsedMillis
  }

  private def send(status: FetchStatus): Option[FetchReply] =
    try Some(link.heartbeat(status))
    catch {
      case gone: CoordinatorGone => throw gone
      case NonFatal(e) =>
        log.debug(s"The driver did not answer a heartbeat: ${e.getMessage}")
        None
    }
}

private object FetchReporter {
  private val HeartbeatPeriod = 200.millis
  private val RoomPeriod = 50.millis

  /** Pages of many shards arrive at about the same time. */
  private val UrgentPeriod = 20.millis

  /** Longer than a pause of the driver for garbage collection. */
  private val DriverPatience = 60.seconds
}
