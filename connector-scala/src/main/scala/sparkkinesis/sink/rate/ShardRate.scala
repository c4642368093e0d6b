package sparkkinesis.sink.rate

/**
 * The rate limiter of one shard, shared by all tasks of an executor that write to it. Thread-safe.
 *
 * Kinesis gives each shard a token bucket for records and one for bytes. This class models them
 * twice. `allowance` is what this executor may send: it fills at the executor's share of the quota.
 * `quota` is what the shard would have left if nobody else wrote to it. When the shard throttles a
 * record, its bucket is empty. What `quota` still has at that moment went to other writers, or the
 * shard never had it: the share drops to a little less than the shard really gave. Then it grows
 * slowly, and faster the longer the shard throttles nothing: see [[QuotaShare]].
 *
 * If several executors write to a stream, each begins with an equal share. A probe shows soon
 * whether the shard accepts more, because some services have no quota: a few records exceed the
 * allowance. If they pass, the share doubles; if they exceed the whole quota, the next probe is
 * four times as large. In the end the shard is not limited any more, until it throttles a record:
 * see [[ShardProbe]].
 *
 * @param shards number of shards that it stands for: one, except if the service distributes records
 * @param writers number of executors that are expected to write to the shard
 * @param start the current time, in milliseconds since any instant, like all times here
 */
private[sink] final class ShardRate(shards: Int, writers: () => Int, start: Long) {
  import ShardRate._

  private val quotaShare = new QuotaShare(writers)
  private val allowance = new QuotaBuckets(shards, quotaShare.value)
  private val quota = new QuotaBuckets(shards, 1.0)
  private val traffic = new ShardTraffic(quota)
  private val probe = new ShardProbe(start)
  private var filledAt = start
  private var throttledAt = Option.empty[Long]
  @volatile private var isFree = false

  /** Whether nothing limits the rate. */
  def isUnlimited: Boolean = isFree

  /** This executor's share of the quota: more than 0 and at most 1. */
  def share: Double = synchronized(quotaShare.value)

  /**
   * When so much may be sent that a request is worth it. Not later than `now` if that is at once.
   *
   * @param records number of records that wait
   * @param bytes size of those records
   * @param next size of the first record
   */
  def readyAt(records: Int, bytes: Long, next: Int, now: Long): Long =
    if (isFree) now
    else
      synchronized {
        fill(now)
        if (probe.isDue(now) && allowance.fits(next.toLong, probe.overdraft)) now
        else {
          val wantedRecords = math.min(records.toDouble, allowance.recordsPerSecond * Chunk)
          val wantedBytes = math.min(bytes.toDouble, allowance.bytesPerSecond * Chunk)
          val seconds = allowance
            .secondsUntil(math.max(1.0, wantedRecords), math.max(next.toDouble, wantedBytes))
          val wait = seconds - probe.overdraft
          if (wait <= 0) now else now + math.max(1L, math.ceil(wait * 1000).toLong)
        }
      }

  /** Takes what a record of that size needs from the allowance, if there is enough. */
  def take(size: Int, now: Long): Taken =
    if (isFree) Taken.Within
    else
      synchronized {
        fill(now)
        val isWithin =
          allowance.records >= 1 && (allowance.bytes >= size || allowance.isFullOfBytes)
        if (!isWithin && !allowance.fits(size.toLong, probe.overdraft)) Taken.Nothing
        else {
          allowance.take(1, size.toLong)
          traffic.sent(size)
          if (!isWithin) probe.sent()
          if (isWithin) Taken.Within else Taken.Beyond
        }
      }

  /**
   * Records were answered.
   *
   * @param sent all of them
   * @param written those that Kinesis wrote
   * @param throttled those that the shard throttled
   * @param isProbe whether some exceeded the allowance
   * @param sentAt when they were sent. The shard may have throttled records at any time since then
   */
  def answered(
      sent: RecordSum,
      written: RecordSum,
      throttled: RecordSum,
      isProbe: Boolean,
      sentAt: Long,
      now: Long
  ): Unit =
    if (!isFree || throttled.records > 0) synchronized {
      val roundTrip = math.max(0L, now - sentAt) / 1000.0
      fill(now)
      probe.answered(roundTrip)
      ended(sent, isProbe)
      if (!isFree) {
        traffic.written(written)
        quota.take(written.records.toLong, written.bytes)
        if (isProbe && throttled.records == 0 && probe.overdraft > 0) probePassed(now)
      }
      if (throttled.records > 0) slowDown(throttled, roundTrip, now)
    }

  /** Records remain without an answer. Kinesis may have written them, so they prove nothing. */
  def unanswered(sent: RecordSum, isProbe: Boolean, now: Long): Unit = if (!isFree) synchronized {
    fill(now)
    ended(sent, isProbe)
    quota.takeAvailable(sent.records.toLong, sent.bytes)
  }

  private def ended(sent: RecordSum, isProbe: Boolean): Unit = {
    if (isProbe) probe.ended()
    traffic.ended(sent)
  }

  /** A probe proves something only if the shard cannot have regained what it took. */
  private def probePassed(now: Long): Unit =
    if (quota.isOverdrawn || quotaShare.value < 1 && allowance.isOverdrawn) {
      quotaShare.double()
      allowance.setShare(quotaShare.value)
      probe.foundMore(quota.isOverdrawn)
      isFree = probe.isQuotaless
    } else probe.foundNothing(now)

  private def slowDown(throttled: RecordSum, roundTrip: Double, now: Long): Unit = {
    if (isFree) limitAgain(now)
    else {
      allowance.take(-throttled.records.toLong, -throttled.bytes)
      val isByBytes = quota.secondsOfBytes < quota.secondsOfRecords
      val leftBytes = throttled.bytes.toDouble / throttled.records // it had less than that
      val refilled = roundTrip / 2
      if (isByBytes)
        allowance.limitTo(allowance.records, leftBytes + refilled * allowance.bytesPerSecond)
      else allowance.limitTo(refilled * allowance.recordsPerSecond, allowance.bytes)
      reduceShare(isByBytes, leftBytes, roundTrip)
    }
    probe.throttled(now)
    throttledAt = Some(now)
  }

  private def limitAgain(now: Long): Unit = {
    isFree = false
    quotaShare.setToAll()
    allowance.setShare(quotaShare.value)
    allowance.limitTo(0, 0)
    quota.limitTo(0, 0)
    traffic.forgetAll()
    filledAt = now
  }

  private def reduceShare(isByBytes: Boolean, leftBytes: Double, roundTrip: Double): Unit =
    traffic.acceptedShare(isByBytes, leftBytes, roundTrip).foreach { accepted =>
      quotaShare.reduce(accepted)
      allowance.setShare(quotaShare.value)
      traffic.forgetWritten()
      quota.limitTo(0, if (isByBytes) leftBytes else 0)
    }

  /** A time before the previous one counts as the previous one. */
  private def fill(now: Long): Unit = if (now > filledAt) {
    val seconds = (now - filledAt) / 1000.0
    quotaShare.grow(seconds, throttledAt.fold(0.0)(at => (now - at) / 1000.0))
    allowance.setShare(quotaShare.value)
    allowance.fill(seconds)
    quota.fill(seconds)
    filledAt = now
  }
}

private[sink] object ShardRate {

  /** The result of `take`. */
  sealed trait Taken

  object Taken {
    case object Nothing extends Taken
    case object Within extends Taken

    /** The record exceeds the allowance: its answer shows whether the shard accepts more. */
    case object Beyond extends Taken
  }

  /** What is worth a request, in seconds of the quota. */
  private val Chunk = 0.05
}
