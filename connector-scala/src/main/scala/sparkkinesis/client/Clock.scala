package sparkkinesis.client

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

/** Time, passed in wherever it matters so that tests own it. */
trait Clock {
  def now: Instant

  /** Of a clock that never goes back, from any beginning: for how long something took. */
  def elapsedMillis: Long = now.toEpochMilli

  /** Returns after the duration, or throws `InterruptedException`. */
  def sleep(duration: FiniteDuration): Unit

  /** Waits for a notification of an object whose lock is held, at most so many milliseconds. */
  def await(monitor: AnyRef, millis: Long): Unit = monitor.wait(math.max(1L, millis))
}

/** The only place that reads the machine's clock. */
object SystemClock extends Clock {
  override def now: Instant = Instant.now()

  override def elapsedMillis: Long = System.nanoTime() / 1000000

  override def sleep(duration: FiniteDuration): Unit = Thread.sleep(duration.toMillis)
}
