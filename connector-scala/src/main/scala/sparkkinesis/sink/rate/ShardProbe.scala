package sparkkinesis.sink.rate

/**
 * How much a shard is asked beyond what it is thought to have, to learn whether there is more: as
 * much as it cannot have got back before it answers, four times as much each time that passes.
 *
 * @param start now, in milliseconds
 */
private[sink] final class ShardProbe(start: Long) {
  import ShardProbe._

  private var allowed = 0.0
  private var notBefore = start
  private var inVain = 0
  private var isOnTheWay = false
  private var roundTrip = Option.empty[Double]

  /** Seconds' worth that may go beyond what is there; 0 while nothing may. */
  def beyond: Double = allowed

  /** Whether a few records may go at once, to learn what comes of them. */
  def isDue(now: Long): Boolean = {
    if (allowed == 0 && now >= notBefore)
      roundTrip.foreach(it => allowed = math.max(Least, math.min(Most, 2 * it)))
    allowed > 0 && !isOnTheWay
  }

  def sent(): Unit = isOnTheWay = true

  def returned(): Unit = isOnTheWay = false

  /** @param seconds that an answer was on its way; the shortest counts */
  def answered(seconds: Double): Unit = roundTrip = Some(
    roundTrip.fold(seconds)(math.min(_, seconds))
  )

  /** It passed, and there is more. */
  def found(isBeyondQuota: Boolean): Unit = {
    inVain = 0
    if (isBeyondQuota) allowed *= Growth
  }

  /** So much has passed beyond the quota that there is none. */
  def isQuotaless: Boolean = allowed > Last

  /** It passed, and that tells nothing. */
  def foundNothing(now: Long): Unit = {
    pause(now, math.min(RefusalPause, FirstPause * math.pow(2, inVain.toDouble)))
    inVain = math.min(inVain + 1, MostInVain)
  }

  /** The shard has no more. */
  def refused(now: Long): Unit = pause(now, RefusalPause)

  private def pause(now: Long, seconds: Double): Unit = {
    allowed = 0
    notBefore = now + (seconds * 1000).toLong
  }
}

private object ShardProbe {

  // In seconds of the quota.
  private val Least = 0.008
  private val Most = 0.03
  private val Last = 4.0
  private val Growth = 4

  // In seconds.
  private val FirstPause = 0.1
  private val RefusalPause = 30.0
  private val MostInVain = 20
}
