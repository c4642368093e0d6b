package sparkkinesis.client

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

/**
 * The time and waiting. Code that needs them takes a clock as a parameter, so that tests control
 * it.
 */
trait Clock {
  def now: Instant

  /** Milliseconds since an arbitrary instant, never decreasing: for durations. */
  def elapsedMillis: Long = now.toEpochMilli

  /** Waits for the duration. Throws `InterruptedException`. */
  def sleep(duration: FiniteDuration): Unit

  /** Waits for a notification of an object, whose lock the caller holds, for at most `millis`. */
  def await(monitor: AnyRef, millis: Long): Unit = monitor.wait(math.max(1L, millis))
}

/** The clock of the machine. No other code reads it. */
object SystemClock extends Clock {
  override def now: Instant = Instant.now()

  override def elapsedMillis: Long = System.nanoTime() / 1000000

  override def sleep(duration: FiniteDuration): Unit = Thread.sleep(duration.toMillis)
}
