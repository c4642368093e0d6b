package sparkkinesis.sink

import java.time.Instant
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._

import sparkkinesis.client.Clock

/**
 * A clock that a wait moves forward by the whole duration, though it takes hardly any time. A test
 * can also move it.
 */
final class FastClock extends Clock {
  private val millis = new AtomicLong
  private val waitsSoFar = new AtomicLong

  /** How often a thread waited for a notification. */
  def waits: Long = waitsSoFar.get

  override def now: Instant = Instant.ofEpochMilli(millis.get)

  override def sleep(duration: FiniteDuration): Unit = {
    if (Thread.interrupted()) throw new InterruptedException
    pass(duration)
  }

  override def await(monitor: AnyRef, duration: Long): Unit = {
    waitsSoFar.incrementAndGet()
    monitor.wait(1)
    pass(math.max(1L, duration).millis)
  }

  def pass(duration: FiniteDuration): Unit = { millis.addAndGet(duration.toMillis); () }
}
