package sparkkinesis.sink

import sparkkinesis.model.ServiceLimits

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
 * @param writers executors that are thought to write to it
 * @param start now, in milliseconds of any epoch, as everywhere here
 */
private[sink] final class ShardRate(shards: Int, writers: Int, start: Long) {
  import ShardRate._

  private val own = new Level(shards, 1.0 / writers)
  private val whole = new Level(shards, 1.0)
  private var takenRecords = 0L
  private var takenBytes = 0L
  private var fraction = 1.0 / writers
  private var filledAt = start
  private var refusedAt = Option.empty[Long]

  /** Seconds of the share that may be sent beyond what is there. */
  private var beyond = 0.0
  private var probeAt = start
  private var vainProbes = 0
  private var isProbing = false

  /** The shortest yet, in seconds, of sending and answer. */
  private var roundTrip = Option.empty[Double]
  @volatile private var free = false

  /** Whether nothing holds the shard back. */
  def isFree: Boolean = free

  /** Of the shard's quota, more than 0 to 1. */
  def share: Double = synchronized(fraction)

  /**
   * When so much may be sent: not later than `now` if it may be at once.
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
        mayProbe(now)
        if (beyond > 0 && !isProbing && isThere(next.toLong)) now
        else {
          val wantedRecords =
            math.max(1.0, math.min(records.toDouble, own.perSecond.records * Chunk))
          val chunkBytes = math.min(bytes.toDouble, own.perSecond.bytes * Chunk)
          val wantedBytes = math.min(math.max(next.toDouble, chunkBytes), own.capacity.bytes)
          val seconds = math.max(
            (wantedRecords - own.records) / own.perSecond.records,
            (wantedBytes - own.bytes) / own.perSecond.bytes
          ) - beyond
          if (seconds <= 0) now else now + math.max(1L, math.ceil(seconds * 1000).toLong)
        }
      }

  /** Takes what a record of that size needs, if it is there. */
  def take(size: Int, now: Long): Taken =
    if (free) Taken.Within
    else
      synchronized {
        fill(now)
        val within = own.records >= 1 && (own.bytes >= size || own.isFullOfBytes)
        if (!within && !isThere(size.toLong)) Taken.Nothing
        else {
          own.records -= 1
          own.bytes -= size
          if (within) Taken.Within
          else {
            isProbing = true
            Taken.Beyond
          }
        }
      }

  /**
   * What became of records that were taken for: some written, some refused for too much traffic.
   *
   * @param isProbe whether some were taken beyond the quota
   * @param sentAt when they were sent; the shard refused what it did at any time since
   */
  def answered(written: Sum, refused: Sum, isProbe: Boolean, sentAt: Long, now: Long): Unit =
    if (!free || refused.records > 0) synchronized {
      fill(now)
      val took = math.max(0L, now - sentAt) / 1000.0
      roundTrip = Some(roundTrip.fold(took)(math.min(_, took)))
      if (isProbe) isProbing = false
      if (!free) {
        takenRecords += written.records
        takenBytes += written.bytes
        whole.records -= written.records
        whole.bytes -= written.bytes
        if (isProbe && refused.records == 0 && beyond > 0) widen(now)
      }
      if (refused.records > 0) slowDown(refused, sentAt, now)
    }

  /** Nobody knows what became of them. */
  def unanswered(isProbe: Boolean): Unit = if (isProbe) synchronized { isProbing = false }

  private def mayProbe(now: Long): Unit =
    if (beyond == 0 && now >= probeAt)
      roundTrip.foreach(took => beyond = math.max(LeastProbe, math.min(MostProbe, 2 * took)))

  private def isThere(size: Long): Boolean =
    own.records - 1 >= -beyond * own.perSecond.records &&
      own.bytes - size >= -beyond * own.perSecond.bytes

  /**
   * A probe has passed. That tells something only where the shard took what it cannot have got back
   * since: of this writer's share, or of all its quota.
   */
  private def widen(now: Long): Unit = {
    val isBeyondQuota = whole.records < 0 || whole.bytes < 0
    val isBeyondShare = fraction < 1 && (own.records < 0 || own.bytes < 0)
    if (isBeyondQuota || isBeyondShare) {
      vainProbes = 0
      changeShare(math.min(1.0, 2 * fraction))
    } else endProbe(now, math.min(ProbePause, FirstProbePause * math.pow(2, vainProbes.toDouble)))
    if (isBeyondQuota) beyond *= ProbeGrowth
    if (beyond > LastProbe) free = true
  }

  private def endProbe(now: Long, pause: Double): Unit = {
    vainProbes = math.min(vainProbes + 1, 20)
    beyond = 0
    probeAt = now + (pause * 1000).toLong
  }

  private def slowDown(refused: Sum, sentAt: Long, now: Long): Unit = {
    if (free) {
      free = false
      changeShare(1.0)
      forget()
      own.empty()
      whole.empty()
      filledAt = now
    } else {
      own.records += refused.records
      own.bytes += refused.bytes
      val byBytes = whole.bytes / whole.perSecond.bytes < whole.records / whole.perSecond.records
      val least = refused.bytes.toDouble / refused.records // it had less than that
      val onTheWay = math.max(0L, now - sentAt) / 1000.0
      if (byBytes) own.bytes = math.min(own.bytes, least + onTheWay / 2 * own.perSecond.bytes)
      else own.records = math.min(own.records, onTheWay / 2 * own.perSecond.records)
      measure(byBytes, least, onTheWay)
    }
    endProbe(now, ProbePause)
    refusedAt = Some(now)
  }

  /** Too few records tell nothing: what was in flight blurs them. */
  private def measure(byBytes: Boolean, leastBytes: Double, onTheWay: Double): Unit = {
    val perSecond = whole.perSecond
    val (taken, left) =
      if (byBytes) (takenBytes / perSecond.bytes, (whole.bytes - leastBytes) / perSecond.bytes)
      else (takenRecords / perSecond.records, whole.records / perSecond.records)
    val offered = taken + math.max(left - onTheWay, 0.0)
    if (offered >= Sample) {
      val gave = taken / offered
      if (gave < Alone)
        changeShare(math.max(least, math.min(fraction, math.max(gave * Yield, fraction / 2))))
      forget()
      whole.records = math.min(whole.records, 0.0)
      whole.bytes = math.min(whole.bytes, if (byBytes) leastBytes else 0.0)
    }
  }

  /** Of the quota, a second: who has less than its part grows faster. */
  private def growth(quietSeconds: Double): Double = {
    val part = 1.0 / writers
    val ahead = math.max(SlowestGrowth, math.min(FastestGrowth, part / fraction))
    math.min(MostGrowth, Growth * part * ahead * math.pow(2, quietSeconds / GrowthDoubling))
  }

  private def changeShare(to: Double): Unit = {
    fraction = to
    own.setShare(to)
  }

  /** Below that no shard is, so long as it answers. */
  private def least: Double = math.min(Least, 0.25 / writers)

  private def forget(): Unit = {
    takenRecords = 0
    takenBytes = 0
  }

  /** A time before the last is taken for the last. */
  private def fill(now: Long): Unit = if (now > filledAt) {
    val seconds = (now - filledAt) / 1000.0
    val quiet = refusedAt.fold(Double.PositiveInfinity)(at => (now - at) / 1000.0)
    if (fraction < 1 && refusedAt.isDefined && quiet > GrowthPause)
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

    /** More than the quota gives: whether it passes tells whether there is one. */
    case object Beyond extends Taken
  }

  // In seconds of the quota.
  private val Chunk = 0.05
  private val Sample = 0.25
  private val LeastProbe = 0.008
  private val MostProbe = 0.03
  private val LastProbe = 4.0
  private val ProbeGrowth = 4

  // Of the quota.
  private val Least = 0.05
  private val Yield = 0.95
  private val Alone = 0.97 // the rest is noise
  private val Growth = 0.03 // a second
  private val SlowestGrowth = 0.25
  private val FastestGrowth = 8.0
  private val MostGrowth = 0.5

  // In seconds.
  private val GrowthPause = 0.5
  private val GrowthDoubling = 2.0
  private val FirstProbePause = 0.1
  private val ProbePause = 30.0

  /** Two buckets, at first full. */
  private final class Level(shards: Int, initialShare: Double) {
    private var share = initialShare
    var records: Double = capacity.records
    var bytes: Double = capacity.bytes

    def setShare(of: Double): Unit = {
      share = of
      records = math.min(records, capacity.records)
      bytes = math.min(bytes, capacity.bytes)
    }

    def perSecond: Amount = Amount(
      ServiceLimits.WriteRecordsPerSecond * shards * share,
      ServiceLimits.WriteBytesPerSecond * shards * share
    )

    /** A second's worth. */
    def capacity: Amount = perSecond

    /** The largest records pass when there is no more to wait for, and leave a debt. */
    def isFullOfBytes: Boolean = bytes >= capacity.bytes

    def fill(seconds: Double): Unit = {
      records = math.min(capacity.records, records + perSecond.records * seconds)
      bytes = math.min(capacity.bytes, bytes + perSecond.bytes * seconds)
    }

    def empty(): Unit = {
      records = 0
      bytes = 0
    }
  }

  private final case class Amount(records: Double, bytes: Double)
}
