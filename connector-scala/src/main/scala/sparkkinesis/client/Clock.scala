package sparkkinesis.client

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

/** Time, passed in wherever it matters so that tests own it. */
trait Clock {
  def now: Instant

  /** Returns after the duration, or throws `InterruptedException`. */
  def sleep(duration: FiniteDuration): Unit
}

/** The only place that reads the machine's clock. */
object SystemClock extends Clock {
  override def now: Instant = Instant.now()

  override def sleep(duration: FiniteDuration): Unit = Thread.sleep(duration.toMillis)
}
