package sparkkinesis.sink

import java.time.Instant
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import sparkkinesis.client.Clock

/**
 * A clock that a wait moves forward by the whole duration, though it takes hardly any time. A test
 * can also move it.
 */
final class FastClock extends Clock {
  private val millis = new AtomicLong
  private val waitsSoFar = new ConcurrentHashMap[Thread, Long]

  /** How often threads waited for a notification. */
  def waits: Long = waitsSoFar.values.asScala.sum

  /** How often one thread waited for a notification. */
  def waitsOf(thread: Thread): Long = waitsSoFar.getOrDefault(thread, 0L)

  override def now: Instant = Instant.ofEpochMilli(millis.get)

  override def sleep(duration: FiniteDuration): Unit = {
    if (Thread.interrupted()) throw new InterruptedException
    pass(duration)
  }

  override def await(monitor: AnyRef, duration: Long): Unit = {
    waitsSoFar.merge(Thread.currentThread, 1L, _ + _)
    monitor.wait(1)
    pass(math.max(1L, duration).millis)
  }

  def pass(duration: FiniteDuration): Unit = { millis.addAndGet(duration.toMillis); () }
}
