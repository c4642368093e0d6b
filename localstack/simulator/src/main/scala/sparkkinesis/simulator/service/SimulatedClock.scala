package sparkkinesis.simulator.service

import java.time.Instant
import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.Clock

/**
 * A clock that moves only by `advance` and `sleep`.
 *
 * @param jitter evenly distributed in `[0, 1)`
 */
final class SimulatedClock(start: Instant, jitter: () => Double = () => 0.5) extends Clock {
  private val time = new AtomicReference(start)

  override def now: Instant = time.get

  override def chance(): Double = jitter()

  override def sleep(duration: FiniteDuration): Unit =
    if (Thread.interrupted()) throw new InterruptedException("Interrupted before a sleep.")
    else advance(duration)

  def advance(duration: FiniteDuration): Unit = {
    time.updateAndGet(_.plusNanos(duration.toNanos))
    ()
  }
}
