package sparkkinesis.spark.read

import scala.concurrent.duration._

/**
 * How long no executor has reported, although a job has started reading ahead. A value.
 *
 * @param since by the running time of the driver; `None` while there is no silence
 */
private[read] final case class Silence(since: Option[FiniteDuration], now: FiniteDuration) {
  def after(isSilent: Boolean, now: FiniteDuration): Silence =
    Silence(if (isSilent) since.orElse(Some(now)) else None, now)

  /** A service reports as soon as it has started. */
  def isTooLong: Boolean = since.exists(now - _ > Silence.Longest)
}

private[read] object Silence {
  val None: Silence = Silence(scala.None, Duration.Zero)

  /** Shorter than the longest pause between two jobs, and longer than the loss of an executor takes. */
  private val Longest = 30.seconds
}
