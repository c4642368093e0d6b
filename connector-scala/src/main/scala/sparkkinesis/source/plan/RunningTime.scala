package sparkkinesis.source.plan

import java.time.Instant

import scala.concurrent.duration._

/**
 * The time in which the driver was running. Time in which its process was suspended or collected
 * garbage does not count, because no heartbeat could arrive. Its owner's lock guards it.
 */
final class RunningTime {
  private var last = Option.empty[Instant]
  private var sum: FiniteDuration = Duration.Zero

  /**
   * The time since the first call. Of a long time between two calls only a part counts.
   *
   * @param now of a clock that never jumps
   */
  def at(now: Instant): FiniteDuration = {
    val passed = last.fold(0L)(before => now.toEpochMilli - before.toEpochMilli)
    // A thread that waited for the lock may bring an earlier time, which was counted.
    if (passed >= 0) last = Some(now)
    sum += passed.millis.max(Duration.Zero).min(RunningTime.LongestGap)
    sum
  }
}

object RunningTime {

  /** The owner asks for the time more often while the driver is running. */
  private val LongestGap = 1.second
}
