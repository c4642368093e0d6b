package sparkkinesis.sink.rate

/**
 * The share of a shard's quota that this executor uses: more than 0 and at most 1. It becomes
 * smaller when the shard throttles records, and grows again with time.
 *
 * All executors grow by the same amount, and one with a larger share loses more, so that in the end
 * the shares are equal.
 *
 * @param writers number of executors that are expected to write to the shard
 */
private[rate] final class QuotaShare(writers: () => Int) {
  import QuotaShare._

  private var share = fairShare

  def value: Double = share

  /** The share if all executors used the same. */
  private def fairShare: Double = 1.0 / writers()

  def setToAll(): Unit = share = 1.0

  def double(): Unit = share = math.min(1.0, 2 * share)

  /**
   * The shard throttled records.
   *
   * @param accepted the part of its quota that the shard gave to this executor, 0 to 1
   */
  def reduce(accepted: Double): Unit = if (accepted < Noise) {
    val most = math.max(accepted * SafetyFactor, share / 2)
    share = math.max(math.min(Smallest, fairShare / 4), math.min(share, most))
  }

  /**
   * Time has passed.
   *
   * @param seconds since the last call
   * @param quietSeconds since the shard last throttled a record
   */
  def grow(seconds: Double, quietSeconds: Double): Unit =
    if (share < 1 && quietSeconds > GrowthPause)
      share = math.min(1.0, share + growthPerSecond(quietSeconds) * seconds)

  /** An executor with less than the fair share grows faster. */
  private def growthPerSecond(quietSeconds: Double): Double = {
    val boost = math.max(SmallestBoost, math.min(LargestBoost, fairShare / share))
    math.min(
      FastestGrowth,
      Growth * fairShare * boost * math.pow(2, quietSeconds / GrowthDoubling)
    )
  }
}

private object QuotaShare {

  /** While the shard answers, an executor that is alone keeps at least this share. */
  private val Smallest = 0.05

  /** A little less than the shard gave. */
  private val SafetyFactor = 0.95

  /** A measurement above this value does not show another writer. */
  private val Noise = 0.97

  // Per second, of the quota.
  private val Growth = 0.03
  private val FastestGrowth = 0.5

  private val SmallestBoost = 0.25
  private val LargestBoost = 8.0

  // In seconds.
  private val GrowthPause = 0.5
  private val GrowthDoubling = 2.0
}
