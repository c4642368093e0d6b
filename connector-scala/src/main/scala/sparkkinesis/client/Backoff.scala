package sparkkinesis.client

import scala.concurrent.duration._

/**
 * The delay before the next attempt: random, evenly distributed between zero and a growing bound
 * ("full jitter").
 *
 * Full jitter spreads competing clients best
 * ([[https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/ AWS architecture
 * blog]]).
 *
 * @param base the bound before the second attempt
 * @param cap the largest bound
 */
private[sparkkinesis] final case class Backoff(base: FiniteDuration, cap: FiniteDuration) {
  require(
    base > Duration.Zero && base <= cap,
    s"The base of a back-off is above zero and at most its cap $cap, not $base."
  )

  /** The bound after a number of failures in a row. */
  def bound(failures: Int): FiniteDuration = {
    require(failures >= 1, s"A back-off follows at least one failure, not $failures.")
    val doublings = math.min(failures - 1, 30)
    val millis = base.toMillis.toDouble * math.pow(2, doublings.toDouble)
    math.min(millis, cap.toMillis.toDouble).toLong.millis
  }

  /** @param chance a random number, evenly distributed in `[0, 1)` */
  def delay(failures: Int, chance: Double): FiniteDuration =
    math.max(1L, (bound(failures).toMillis * chance).toLong).millis
}
