package sparkkinesis.simulator.service

import java.time.{Duration, Instant}
import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.Clock

/**
 * A clock that is ahead of another one by all advances. It never goes back, even if the other does.
 */
private[simulator] final class ShiftedClock(base: Clock) extends Clock {
  private val shift = new AtomicReference(Duration.ZERO)
  private val latest = new AtomicReference(Instant.MIN)

  override def now: Instant = {
    val time = base.now.plus(shift.get)
    latest.updateAndGet(before => if (before.isAfter(time)) before else time)
  }

  override def sleep(duration: FiniteDuration): Unit = base.sleep(duration)

  /** @param duration not negative */
  def advance(duration: FiniteDuration): Unit = {
    require(duration.toNanos >= 0, s"Time cannot go back: $duration.")
    shift.updateAndGet(_.plusNanos(duration.toNanos))
    ()
  }

  /** Continues from that time, unless it has passed. */
  def advanceTo(time: Instant): Unit = {
    val reached = now
    if (time.isAfter(reached)) {
      shift.updateAndGet(_.plus(Duration.between(reached, time)))
      ()
    }
  }
}
