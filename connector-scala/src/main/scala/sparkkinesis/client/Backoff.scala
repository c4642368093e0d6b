package sparkkinesis.client

import scala.concurrent.duration._

/**
 * How long to wait before trying again: "full jitter", evenly between zero and a growing bound.
 *
 * Full jitter spreads competing clients best
 * ([[https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/ AWS architecture blog]]).
 *
 * @param base the bound before the second attempt
 * @param cap the bound never grows beyond
 */
final case class Backoff(base: FiniteDuration, cap: FiniteDuration) {
  require(base > Duration.Zero && base <= cap, s"Back-off of $base up to $cap is no back-off.")

  /** The bound before the attempt that follows `failures` failed ones in a row. */
  def bound(failures: Int): FiniteDuration = {
    require(failures >= 1, s"There is no waiting after $failures failures.")
    val doublings = math.min(failures - 1, 30)
    val millis = base.toMillis.toDouble * math.pow(2, doublings.toDouble)
    math.min(millis, cap.toMillis.toDouble).toLong.millis
  }

  /** @param chance evenly distributed in `[0, 1)` */
  def delay(failures: Int, chance: Double): FiniteDuration =
    math.max(1L, (bound(failures).toMillis * chance).toLong).millis
}
