package sparkkinesis.shard.pace

/**
 * The share of a shard's quota that this executor takes, and the size of its pages. Other consumers
 * read the same shard, and the service says only that a call is refused.
 *
 * Each refusal makes the share smaller, and each page makes it larger. An equal part of everybody's
 * calls is refused, and a smaller share grows faster, so that shares become equal. Where a share is
 * equal to one half, one call in about forty is refused. The reasons are in
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
    else math.min(largest, UsualPage * math.pow(2, (inARow - 1).toDouble))

  /** The largest page and penalty. The smaller the share, the longer the pause that they cause. */
  private def largest: Double = math.min(LargestPage, LongestPause * part)

  /** @param seconds of the quota that a page used */
  def answered(seconds: Double): Unit = {
    inARow = 0
    quiet += 1
    page = math.max(UsualPage, page * PageShrinking)
    val pages = math.max(1.0, seconds / UsualPage)
    val usual = math.min(MostGrowth, Growth * 0.5 / part) * pages
    part = math.min(1.0, part * math.exp(if (quiet > ManyPages) math.max(usual, Fast) else usual))
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
    if (inARow == 0) part = math.max(Smallest, part * (if (wasRefused) Reduction else First))
    if (part < Small) page = math.max(UsualPage, math.min(largest, page * 2))
    wasRefused = true
    quiet = 0
  }
}

private object ReadShare {

  // The costs of pages are in seconds of the quota.
  private val UsualPage = 0.4
  private val LargestPage = 4.0

  /** Seconds between two calls. */
  private val LongestPause = 10.0

  /** The first refusal shows that others read the shard. */
  private val First = 0.6
  private val Reduction = 0.86

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
