package sparkkinesis.client

import java.util.concurrent.TimeUnit

import scala.concurrent.duration.FiniteDuration

import org.slf4j.LoggerFactory

/**
 * Runs short tasks of this JVM, all on one daemon thread. The thread ends one second after the last
 * task, so that a JVM without queries has no thread of the connector.
 */
private[sparkkinesis] object Timer {
  private val log = LoggerFactory.getLogger(getClass)

  private lazy val executor = DaemonThreads.timer("spark-kinesis-timer")

  /** Runs a task once, after a delay. */
  val later: (FiniteDuration, () => Unit) => Unit = (delay, task) =>
    executor.schedule((() => task()): Runnable, delay.toMillis, TimeUnit.MILLISECONDS): Unit

  /** Repeats a task, also after a failure, until the result is closed. */
  def every(period: FiniteDuration)(task: () => Unit): AutoCloseable = {
    val safely: Runnable = () =>
      try task()
      catch { case e: Throwable => log.error("A task of the timer failed. It will run again.", e) }
    val millis = period.toMillis
    val repeated =
      executor.scheduleWithFixedDelay(safely, millis, millis, TimeUnit.MILLISECONDS)
    () => repeated.cancel(false): Unit
  }
}
