package sparkkinesis.sink.rate

/**
 * Finds out whether a shard accepts more than its known quota: now and then a few records exceed
 * it, as many as the shard cannot have regained before it answers. Each time they pass, the next
 * probe is four times as large.
 *
 * @param start the current time, in milliseconds
 */
private[sink] final class ShardProbe(start: Long) {
  import ShardProbe._

  private var allowed = 0.0
  private var notBefore = start
  private var probesInVain = 0
  private var isInFlight = false
  private var shortestRoundTrip = Option.empty[Double]

  /** Seconds of the quota by which the buckets may be overdrawn; 0 while no probe is allowed. */
  def overdraft: Double = allowed

  /** Whether a few records may exceed the quota now. */
  def isDue(now: Long): Boolean = {
    if (allowed == 0 && now >= notBefore)
      shortestRoundTrip.foreach { it =>
        allowed = math.max(SmallestProbe, math.min(LargestFirstProbe, 2 * it))
      }
    allowed > 0 && !isInFlight
  }

  def sent(): Unit = isInFlight = true

  /** The request with the probe was answered, or failed. */
  def ended(): Unit = isInFlight = false

  /** @param roundTrip seconds between a request and its answer */
  def answered(roundTrip: Double): Unit = shortestRoundTrip = Some(
    shortestRoundTrip.fold(roundTrip)(math.min(_, roundTrip))
  )

  /** The probe passed, and the shard accepts more than this executor's share. */
  def foundMore(isBeyondQuota: Boolean): Unit = {
    probesInVain = 0
    if (isBeyondQuota) allowed *= Growth
  }

  /** So much exceeded the quota that the service has none. */
  def isQuotaless: Boolean = allowed > LargestProbe

  /** The probe passed, but the shard may have had room for it. */
  def foundNothing(now: Long): Unit = {
    val seconds = FirstPause * math.pow(2, probesInVain.toDouble)
    pause(now, math.min(ThrottledPause, seconds))
    probesInVain = math.min(probesInVain + 1, MaxProbesInVain)
  }

  /** The shard throttled records. */
  def throttled(now: Long): Unit = pause(now, ThrottledPause)

  private def pause(now: Long, seconds: Double): Unit = {
    allowed = 0
    notBefore = now + (seconds * 1000).toLong
  }
}

private object ShardProbe {

  // In seconds of the quota.
  private val SmallestProbe = 0.008
  private val LargestFirstProbe = 0.03
  private val LargestProbe = 4.0

  private val Growth = 4

  // In seconds.
  private val FirstPause = 0.1
  private val ThrottledPause = 30.0

  private val MaxProbesInVain = 20
}
