package sparkkinesis.shard.pace

/**
 * The share of a shard's quota that this executor takes, and the size of its pages. Other consumers
 * read the same shard, and the service says only that a call is refused.
 *
 * Each refusal makes the share smaller, and each page makes it larger. An equal part of everybody's
 * calls is refused. A smaller share grows faster and loses less, so that shares become equal. Where
 * two share a shard, one call in about fifty is refused. The reasons are in
 * docs/adr/0018-read-pace.md.
 *
 * Small pages keep the shard free for the others: after a page of 10 MB it refuses everybody for
 * five seconds. An executor that gets little of a shard asks less often for more.
 */
private[pace] final class ReadShare {
  import ReadShare._

  private var part = 1.0
  private var page = UsualPage
  private var inARow = 0 // refusals
  private var quiet = 0 // pages since the last refusal
  private var wasRefused = false

  /** This executor's part of the quota: more than 0 and at most 1. */
  def value: Double = part

  /** The size that a page should have, in seconds of the quota. */
  def pageSeconds: Double = page

  /** Seconds of the quota that no call follows a refusal; 0 if the last call was answered. */
  def penalty: Double =
    if (inARow == 0) 0.0
    else math.min(LongestPenalty * part, UsualPage * math.pow(2, (inARow - 1).toDouble))

  /** @param seconds of the quota that a page used */
  def answered(seconds: Double): Unit = {
    inARow = 0
    quiet += 1
    page = math.max(UsualPage, page * PageShrinking)
    val pages = math.max(1.0, seconds / UsualPage)
    val usual = growth * pages
    part = math.min(1.0, part * math.exp(if (quiet > ManyPages) math.max(usual, Fast) else usual))
  }

  /** By which a page of the usual size raises the logarithm of the share. */
  private def growth: Double = math.min(MostGrowth, Growth * Half / part)

  /**
   * The part of the calls that may be refused. If more are refused, the share falls. It depends
   * much on the share where two or three divide a shard, so that the larger share falls while the
   * smaller one grows.
   */
  private def tolerated: Double = {
    val steep = math.max(Steep, part)
    RefusedOfTwo * math.pow(Half / steep, 3) * steep / part
  }

  /**
   * Lowers the share after a refusal. Only the first refusal in a row counts: those that follow
   * have the same cause.
   *
   * @param isOwnFault whether this executor alone used more than the quota
   */
  def refused(isOwnFault: Boolean): Unit = {
    if (!isOwnFault) reduce()
    inARow += 1
  }

  private def reduce(): Unit = {
    if (inARow == 0) {
      val usual = math.exp(-growth / tolerated)
      part = math.max(Smallest, part * (if (wasRefused) math.max(Least, usual) else First))
    }
    // The smaller the share, the longer the pause after a page.
    val largest = math.min(LargestPage, LongestPause * part)
    if (part < Small) page = math.max(UsualPage, math.min(largest, page * 2))
    wasRefused = true
    quiet = 0
  }
}

private object ReadShare {

  // The costs of pages are in seconds of the quota.
  private val UsualPage = 0.4
  private val LargestPage = 4.0

  /** Seconds between two pages. */
  private val LongestPause = 10.0

  /**
   * Seconds after a refusal. In a longer pause, a consumer that is never refused would not notice
   * this one.
   */
  private val LongestPenalty = 1.5

  /** The first refusal shows that others read the shard. */
  private val First = 0.6

  /** A refusal leaves at least this part of the share. */
  private val Least = 0.5

  /** The part of a shard's quota for each of two consumers, and of their calls that is refused. */
  private val Half = 0.5
  private val RefusedOfTwo = 0.025

  /**
   * Below this share, with three consumers or more, fewer refusals matter more than equal shares.
   */
  private val Steep = 0.4

  private val Smallest = 0.05

  /** Below this share, calls are probably what is scarce. */
  private val Small = 0.2
  private val PageShrinking = 0.995

  // Per page of the usual size.
  private val Growth = 0.004
  private val MostGrowth = 0.03

  /** Number of pages without a refusal after which the other consumers have probably gone. */
  private val ManyPages = 60
  private val Fast = 0.02
}
