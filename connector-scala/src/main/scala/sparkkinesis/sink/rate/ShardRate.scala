package sparkkinesis.sink.rate

/**
 * How fast one shard is written to: what all tasks of an executor that write to it share. Safe for
 * many threads.
 *
 * Kinesis gives each shard a bucket of records and one of bytes, which fill all the time up to a
 * second's worth. Two such pairs are kept here. `own` is what may be sent: it fills at `share` of
 * the shard's quota. `whole` is what would be left in the shard's, were nobody else writing. The
 * moment the shard refuses a record its bucket is empty: so much as `whole` then still holds others
 * have taken, or the shard never had, and `share` comes down at once to a little less than it
 * really gave. From there it grows slowly, faster the longer nothing is refused: all who write to
 * the shard grow alike, and who has more loses more, so that they come to have equal shares.
 *
 * At first each of several executors takes but its part of the quota. Whether there is more shows
 * soon, as some services have no quota at all: a few records go beyond what may be sent, as many
 * as the shard cannot have got back before it answers, and where they pass the share doubles; beyond
 * the whole quota four times as many go each time. At last the shard is limited no more, until it
 * refuses something.
 *
 * @param shards that it stands for: one, but for streams that distribute records by themselves
 * @param writers executors that are thought to write to it now
 * @param start now, in milliseconds of any epoch, as everywhere here
 */
private[sink] final class ShardRate(shards: Int, writers: () => Int, start: Long) {
  import ShardRate._

  private val own = new QuotaLevel(shards, 1.0 / writers())
  private val whole = new QuotaLevel(shards, 1.0)
  private val probe = new ShardProbe(start)
  private var writtenRecords = 0L
  private var writtenBytes = 0L

  /** Of requests without an answer: the shard may have written it. */
  private var sentRecords = 0L
  private var sentBytes = 0L
  private var fraction = 1.0 / writers()
  private var filledAt = start
  private var refusedAt = Option.empty[Long]
  @volatile private var free = false

  /** Whether nothing holds the shard back. */
  def isFree: Boolean = free

  /** Of the shard's quota, more than 0 to 1. */
  def share: Double = synchronized(fraction)

  /**
   * When so much may be sent that it is worth a request: not later than `now` if it may be at once.
   *
   * @param records that wait
   * @param bytes of those
   * @param next bytes of the first
   */
  def readyAt(records: Int, bytes: Long, next: Int, now: Long): Long =
    if (free) now
    else
      synchronized {
        fill(now)
        if (probe.isDue(now) && own.isThere(next.toLong, probe.beyond)) now
        else {
          val wantedRecords = math.min(records.toDouble, own.recordsPerSecond * Chunk)
          val wantedBytes = math.min(bytes.toDouble, own.bytesPerSecond * Chunk)
          val seconds =
            own.secondsUntil(math.max(1.0, wantedRecords), math.max(next.toDouble, wantedBytes))
          val wait = seconds - probe.beyond
          if (wait <= 0) now else now + math.max(1L, math.ceil(wait * 1000).toLong)
        }
      }

  /** Takes what a record of that size needs, if it is there. */
  def take(size: Int, now: Long): Taken =
    if (free) Taken.Within
    else
      synchronized {
        fill(now)
        val isWithin = own.records >= 1 && (own.bytes >= size || own.isFullOfBytes)
        if (!isWithin && !own.isThere(size.toLong, probe.beyond)) Taken.Nothing
        else {
          own.take(1, size.toLong)
          sentRecords += 1
          sentBytes += size
          if (!isWithin) probe.sent()
          if (isWithin) Taken.Within else Taken.Beyond
        }
      }

  /**
   * What became of records that were taken for.
   *
   * @param sent all of them
   * @param refused for too much traffic
   * @param isProbe whether some were taken beyond what was there
   * @param sentAt when they were sent; the shard refused what it did at any time since
   */
  def answered(
      sent: Sum,
      written: Sum,
      refused: Sum,
      isProbe: Boolean,
      sentAt: Long,
      now: Long
  ): Unit =
    if (!free || refused.records > 0) synchronized {
      val onTheWay = math.max(0L, now - sentAt) / 1000.0
      fill(now)
      probe.answered(onTheWay)
      settle(sent, isProbe)
      if (!free) {
        writtenRecords += written.records
        writtenBytes += written.bytes
        whole.take(written.records.toLong, written.bytes)
        if (isProbe && refused.records == 0 && probe.beyond > 0) passed(now)
      }
      if (refused.records > 0) slowDown(refused, onTheWay, now)
    }

  /** Nobody knows what became of them; the shard may have them. That proves nothing. */
  def unanswered(sent: Sum, isProbe: Boolean, now: Long): Unit = if (!free) synchronized {
    fill(now)
    settle(sent, isProbe)
    whole.takeIfThere(sent.records.toLong, sent.bytes)
  }

  private def settle(sent: Sum, isProbe: Boolean): Unit = {
    if (isProbe) probe.returned()
    sentRecords = math.max(0L, sentRecords - sent.records)
    sentBytes = math.max(0L, sentBytes - sent.bytes)
  }

  /**
   * A probe has passed. That tells something only where the shard took what it cannot have got back
   * since: of this writer's share, or of all its quota.
   */
  private def passed(now: Long): Unit =
    if (whole.isOverdrawn || fraction < 1 && own.isOverdrawn) {
      changeShare(math.min(1.0, 2 * fraction))
      probe.found(whole.isOverdrawn)
      free = probe.isQuotaless
    } else probe.foundNothing(now)

  private def slowDown(refused: Sum, onTheWay: Double, now: Long): Unit = {
    if (free) {
      free = false
      changeShare(1.0)
      own.lower(0, 0)
      whole.lower(0, 0)
      forget()
      sentRecords = 0
      sentBytes = 0
      filledAt = now
    } else {
      own.take(-refused.records.toLong, -refused.bytes)
      val isByBytes = whole.secondsOfBytes < whole.secondsOfRecords
      val least = refused.bytes.toDouble / refused.records // it had less than that
      val refilled = onTheWay / 2
      if (isByBytes) own.lower(own.records, least + refilled * own.bytesPerSecond)
      else own.lower(refilled * own.recordsPerSecond, own.bytes)
      measure(isByBytes, least, onTheWay)
    }
    probe.refused(now)
    refusedAt = Some(now)
  }

  /** Too few records tell nothing: what was in flight blurs them. */
  private def measure(isByBytes: Boolean, leastBytes: Double, onTheWay: Double): Unit = {
    val (written, left) =
      if (isByBytes)
        (
          writtenBytes / whole.bytesPerSecond,
          (whole.bytes - leastBytes - sentBytes) / whole.bytesPerSecond
        )
      else
        (
          writtenRecords / whole.recordsPerSecond,
          (whole.records - sentRecords) / whole.recordsPerSecond
        )
    val offered = written + math.max(left - onTheWay, 0.0)
    if (offered >= Sample) {
      if (written / offered < Alone) {
        val most = math.max(written / offered * Yield, fraction / 2)
        changeShare(math.max(math.min(Least, part / 4), math.min(fraction, most)))
      }
      forget()
      whole.lower(0, if (isByBytes) leastBytes else 0)
    }
  }

  /** Of the quota, were it shared evenly. */
  private def part: Double = 1.0 / writers()

  /** Of the quota, a second: who has less than its part grows faster. */
  private def growth(quietSeconds: Double): Double = {
    val behind = math.max(SlowestGrowth, math.min(FastestGrowth, part / fraction))
    math.min(MostGrowth, Growth * part * behind * math.pow(2, quietSeconds / GrowthDoubling))
  }

  private def changeShare(to: Double): Unit = {
    fraction = to
    own.setShare(to)
  }

  private def forget(): Unit = {
    writtenRecords = 0
    writtenBytes = 0
  }

  /** A time before the last is taken for the last. */
  private def fill(now: Long): Unit = if (now > filledAt) {
    val seconds = (now - filledAt) / 1000.0
    val quiet = refusedAt.fold(0.0)(at => (now - at) / 1000.0)
    if (fraction < 1 && quiet > GrowthPause)
      changeShare(math.min(1.0, fraction + growth(quiet) * seconds))
    own.fill(seconds)
    whole.fill(seconds)
    filledAt = now
  }
}

private[sink] object ShardRate {

  /** Records and their bytes, partition keys included. */
  final case class Sum(records: Int, bytes: Long)

  object Sum {
    val Zero: Sum = Sum(0, 0)
  }

  /** What came of taking. */
  sealed trait Taken

  object Taken {
    case object Nothing extends Taken
    case object Within extends Taken

    /** More than is thought to be there: whether it passes tells whether there is. */
    case object Beyond extends Taken
  }

  // In seconds of the quota.
  private val Chunk = 0.05
  private val Sample = 0.25

  // Of the quota.
  private val Least = 0.05 // so long as the shard answers
  private val Yield = 0.95
  private val Alone = 0.97 // the rest is noise
  private val Growth = 0.03 // a second
  private val SlowestGrowth = 0.25
  private val FastestGrowth = 8.0
  private val MostGrowth = 0.5

  // In seconds.
  private val GrowthPause = 0.5
  private val GrowthDoubling = 2.0
}
