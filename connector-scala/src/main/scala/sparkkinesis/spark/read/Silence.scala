package sparkkinesis.spark.read

import scala.concurrent.duration._

/**
 * How long no executor has reported, although a job has started reading ahead. A value.
 *
 * @param since when it began; `None` while there is no silence
 * @param now by a clock that never jumps
 */
private[read] final case class Silence(since: Option[Silence.Look], now: Silence.Look) {
  def after(isSilent: Boolean, now: Silence.Look): Silence =
    Silence(if (isSilent) since.orElse(Some(now)) else None, now)

  /**
   * A service reports as soon as it has started. Of the time in which the driver was suspended, or
   * waited for an interval's trigger, hardly any counts as running.
   */
  def isTooLong: Boolean = since.exists { begin =>
    now.time - begin.time > Silence.Longest && now.running - begin.running >= Silence.LeastRunning
  }
}

private[read] object Silence {

  /**
   * A look at the executors.
   *
   * @param time since a fixed moment
   * @param running the part of it in which the driver was running
   */
  final case class Look(time: FiniteDuration, running: FiniteDuration)

  val None: Silence = Silence(scala.None, Look(Duration.Zero, Duration.Zero))

  /**
   * Shorter than the longest pause between two jobs, and longer than the loss of an executor takes.
   */
  private val Longest = 30.seconds
  private val LeastRunning = 1.second
}
