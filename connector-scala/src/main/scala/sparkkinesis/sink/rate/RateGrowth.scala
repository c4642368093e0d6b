package sparkkinesis.sink.rate

/**
 * How a rate grows with time while nothing is refused. See [[ShardRate]].
 *
 * Each answer without a refusal permits the growth of half a second, or of the time in which what
 * was sent is paid for: the next answer cannot arrive earlier. After a refusal, the growth per
 * second is proportional to the square root of the rate. So of several writers the slower ones grow
 * faster in relation, and all become equal.
 */
private[rate] final class RateGrowth {
  import RateGrowth._

  private var permitted = Permission
  private var roundTrip = 0.0
  private var sinceRefusal = Option.empty[Double] // seconds of growth

  /**
   * A request was answered, and nothing was refused.
   *
   * @param debt the time until what was sent is paid for, in seconds
   */
  def answered(roundTrip: Double, debt: Double): Unit = {
    this.roundTrip = roundTrip
    permitted = math.max(Permission, debt)
  }

  def refused(): Unit = {
    permitted = 0
    sinceRefusal = Some(0)
  }

  /** The rate after so many seconds. */
  def after(seconds: Double, rate: Double): Double = {
    val granted = math.min(seconds, permitted)
    permitted -= granted
    val grown = granted * ShortRoundTrip / math.max(roundTrip, ShortRoundTrip)
    val past = sinceRefusal.getOrElse(Forgotten)
    sinceRefusal = sinceRefusal.map(_ + grown)
    if (past >= Forgotten) rate * math.pow(2, grown / Doubling)
    else math.min(1.0, rate + Slowest * math.sqrt(rate) * math.pow(2, past) * grown)
  }
}

private object RateGrowth {

  // All times here are in seconds.

  /**
   * The time to double: several round trips, so that a refusal is known before the rate has
   * doubled.
   */
  private val Doubling = 0.25

  /** If round trips are longer than this, the rate grows more slowly, for the same reason. */
  private val ShortRoundTrip = 0.1

  /**
   * The time for which a rate may grow unused: two doublings, because records so large that few are
   * sent must not slow down the growth.
   */
  private val Permission = 2 * Doubling

  /** A shard that refuses nothing for so long may have another quota than before. */
  private val Forgotten = 30.0

  /** Per second, of the quota: a refusal every few seconds is what finding a limit costs. */
  private val Slowest = 0.01
}
