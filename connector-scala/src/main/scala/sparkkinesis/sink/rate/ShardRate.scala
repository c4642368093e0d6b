package sparkkinesis.sink.rate

import sparkkinesis.model.ServiceLimits

/**
 * The rate limiter of one shard, shared by all tasks of an executor that write to it. Thread-safe.
 *
 * The rate is a fraction of the shard's quota. It depends on nothing but answers:
 *
 *   - It starts at the executor's part, and doubles every five round trips, as long as the shard
 *     refuses nothing. At 16 times the quota there is no limit any more.
 *   - After the first refusal the rate is at most the quota, and bursts are small. A later refusal
 *     reduces the rate by a twentieth, or to what the shard accepted lately if that is less. It
 *     counts once per round trip.
 *   - Then the rate grows again, slowly at first and each second twice as fast.
 *   - It grows only while it limits the writer and requests are answered without a refusal.
 *
 * Nothing here assumes how the service counts: it may use a token bucket or windows, and count
 * refused records or not. The first burst is as large as a token bucket would allow.
 *
 * @param shards number of shards that it stands for: one, except if the service distributes records
 * @param writers number of executors that are expected to write to the shard
 * @param start the current time, in milliseconds since any instant, like all times here
 */
private[sink] final class ShardRate(shards: Int, writers: Int, start: Long) {
  import ShardRate._

  private val buckets = new QuotaBuckets(shards, 1.0 / writers, FirstBurst)
  private val accepted = new AcceptedRate(start)
  private val growth = new RateGrowth
  private var filledAt = start
  private var reducedAt = Long.MinValue
  private var burstEndedAt = start
  @volatile private var isFree = false

  /** Whether nothing limits the rate. */
  def isUnlimited: Boolean = isFree

  /** The rate, as a fraction of the quota: more than 0. */
  def share: Double = synchronized(buckets.rate)

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
        val wait = buckets.secondsUntil(records, bytes, next)
        if (wait <= 0) now else now + math.max(1L, math.ceil(wait * 1000).toLong)
      }

  /** Takes what a record of that size needs, if the rate allows it. */
  def take(size: Int, now: Long): Boolean = isFree || synchronized {
    fill(now)
    val fits = buckets.fits(size)
    if (fits) buckets.take(1, size.toLong)
    fits
  }

  /**
   * Records were answered.
   *
   * @param written those that Kinesis wrote
   * @param throttled those that the shard refused because of too much traffic
   * @param sentAt when they were sent
   */
  def answered(written: RecordSum, throttled: RecordSum, sentAt: Long, now: Long): Unit =
    if (!isFree || throttled.records > 0) synchronized {
      fill(now)
      accepted.add(buckets.cost(written), written.records + throttled.records, now)
      if (throttled.records > 0) refused(written, throttled, sentAt, now)
      else {
        val ofRecord = buckets.cost(written) / math.max(1L, written.records)
        growth.answered((now - sentAt) / 1000.0, ofRecord, buckets.secondsOfDebt)
      }
      isFree = buckets.rate >= Unlimited
    }

  private def refused(
      written: RecordSum,
      throttled: RecordSum,
      sentAt: Long,
      now: Long
  ): Unit = {
    buckets.take(-throttled.records, -throttled.bytes)
    if (sentAt >= reducedAt) {
      reducedAt = now
      reduce(isWhole = written.records == 0 && throttled.records > 1, now)
    }
    growth.refused()
  }

  /**
   * A large burst is given up first. If the service counts in seconds, it refuses everything until
   * the second of the burst is over, which says nothing about the rate.
   *
   * @param isWhole whether several records were sent, and none was written
   */
  private def reduce(isWhole: Boolean, now: Long): Unit = {
    val rate = buckets.rate
    if (buckets.capacity != Burst) burstEndedAt = now
    else if (!isWhole || now - burstEndedAt >= QuotaPeriod) {
      val less = math.min(rate * (1 - Reduction), accepted.value)
      buckets.rate = math.min(rate, math.max(less, math.max(rate / 2, Smallest)))
    }
    buckets.rate = math.min(buckets.rate, 1.0)
    buckets.capacity = Burst
    buckets.drain()
  }

  /** A time before the previous one counts as the previous one. */
  private def fill(now: Long): Unit = if (now > filledAt) {
    val seconds = (now - filledAt) / 1000.0
    // No further, however much time a growing debt permits: nothing is limited at this rate.
    val most = math.max(buckets.rate, Unlimited)
    if (!buckets.isFull) buckets.rate = math.min(most, growth.after(seconds, buckets.rate))
    buckets.fill(seconds)
    filledAt = now
  }
}

private[sink] object ShardRate {

  /**
   * The burst at the start, in seconds of the rate: what a token bucket of the service would hold.
   */
  private val FirstBurst = 1.0

  /**
   * The usual burst, in seconds of the rate. It is small for a service that counts in short
   * periods.
   */
  private val Burst = 0.05

  /** The service defines its quotas per second. In milliseconds. */
  private val QuotaPeriod = 1000L

  /** Small, because a refusal repeats after a round trip if it was not enough. */
  private val Reduction = 0.05

  /** An executor that others leave nothing keeps asking for this part of the quota. */
  private val Smallest = 0.02

  /** A multiple of the quota that only a service without quotas accepts. */
  private val Unlimited = 16.0
}

/**
 * What a shard accepted lately, as a fraction of its quota: in about the last second, or in about
 * the last 20 records if those took longer.
 *
 * @param start the current time, in milliseconds
 */
private final class AcceptedRate(start: Long) {
  import AcceptedRate._

  // Sums that fade.
  private var cost, seconds, records = 0.0
  private var at = start

  /** @param cost of the accepted records, in seconds of the quota */
  def add(cost: Double, sent: Long, now: Long): Unit = {
    val passed = math.max(0L, now - at) / 1000.0
    val kept = math.max(math.exp(-passed / Memory), math.min(1.0, Sample / math.max(records, 1e-9)))
    this.cost = this.cost * kept + cost
    seconds = seconds * kept + passed
    records = records * kept + sent
    at = math.max(at, now)
  }

  def value: Double = cost / math.max(seconds, 0.001)
}

private object AcceptedRate {

  /** The memory in seconds: the service defines its quotas per second. */
  private val Memory = 1.0

  /** The least sample of records, of which one record more or less is a twentieth. */
  private val Sample = 20.0
}

/**
 * How a rate grows with time while nothing is refused. See [[ShardRate]].
 *
 * Each answer without a refusal permits two doublings, or growth for the time in which what was
 * sent is paid for: the next answer cannot arrive earlier. After a refusal, the growth per second
 * is proportional to the square root of the rate. So of several writers the slower ones grow faster
 * in relation, and all become equal.
 */
private final class RateGrowth {
  import RateGrowth._

  private var doubling = LongestDoubling
  private var permitted = 2 * doubling
  private var roundTrip = 0.0
  private var sinceRefusal = Option.empty[Double] // seconds of growth

  /**
   * A request was answered, and nothing was refused.
   *
   * @param ofRecord the time in which the quota pays for one record, in seconds
   * @param debt the time until what was sent is paid for, in seconds
   */
  def answered(roundTrip: Double, ofRecord: Double, debt: Double): Unit = {
    this.roundTrip = roundTrip
    val news =
      if (sinceRefusal.nonEmpty) LongestDoubling else math.max(roundTrip, math.max(ofRecord, debt))
    doubling = math.min(LongestDoubling, math.max(ShortestDoubling, RoundTrips * news))
    permitted = math.max(2 * doubling, debt)
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
    if (past >= Forgotten) rate * math.pow(2, grown / doubling)
    else math.min(1.0, rate + Slowest * math.sqrt(rate) * math.pow(2, past) * grown)
  }
}

private object RateGrowth {

  // All times here are in seconds.

  /** The time to double in round trips, so that a refusal is known before the rate has doubled. */
  private val RoundTrips = 5

  /** The limits of the time to double. After a refusal, the longest one counts. */
  private val ShortestDoubling = 0.02
  private val LongestDoubling = 0.25

  /** If round trips are longer than this, the rate grows more slowly, for the same reason. */
  private val ShortRoundTrip = 0.1

  /** A shard that refuses nothing for so long may have another quota than before. */
  private val Forgotten = 30.0

  /** Per second, of the quota: a refusal every few seconds is what finding a limit costs. */
  private val Slowest = 0.01
}

/**
 * A token bucket for records and one for bytes. They are full at first, and fill continuously.
 *
 * @param shards number of shards that the buckets stand for
 * @param rate at which they fill, as a fraction of the quota of those shards
 * @param capacity in seconds of that rate
 */
private final class QuotaBuckets(shards: Int, var rate: Double, var capacity: Double) {
  import QuotaBuckets._

  private var records = maxRecords
  private var bytes = maxBytes

  private def recordsPerSecond: Double = ServiceLimits.WriteRecordsPerSecond * shards * rate

  private def bytesPerSecond: Double = ServiceLimits.WriteBytesPerSecond.toDouble * shards * rate

  /** Most records in the bucket. One record must always fit. */
  private def maxRecords: Double = math.max(1.0, recordsPerSecond * capacity)

  private def maxBytes: Double = bytesPerSecond * capacity

  def isFull: Boolean = records >= maxRecords && bytes >= maxBytes

  /** A record larger than the bucket passes while the bucket is full, and leaves a debt. */
  def fits(size: Int): Boolean = records >= 1 && (bytes >= size || bytes >= maxBytes)

  def take(records: Long, bytes: Long): Unit = {
    this.records -= records
    this.bytes -= bytes
  }

  def fill(seconds: Double): Unit = {
    records = math.min(maxRecords, records + recordsPerSecond * seconds)
    bytes = math.min(maxBytes, bytes + bytesPerSecond * seconds)
  }

  /** Leaves no more than a debt. */
  def drain(): Unit = {
    records = math.min(records, 0.0)
    bytes = math.min(bytes, 0.0)
  }

  /**
   * Seconds until a request is worth it; 0 or less if it is now: when a record fits, and all that
   * wait or what flows in within a short time.
   */
  def secondsUntil(waitingRecords: Int, waitingBytes: Long, next: Int): Double = {
    val wantedRecords = math.max(1.0, math.min(waitingRecords.toDouble, recordsPerSecond * Worth))
    val wantedBytes =
      math.max(next.toDouble, math.min(waitingBytes.toDouble, bytesPerSecond * Worth))
    math.max(
      (wantedRecords - records) / recordsPerSecond,
      (math.min(wantedBytes, maxBytes) - bytes) / bytesPerSecond
    )
  }

  /** The time until no bucket is in debt; 0 if none is. */
  def secondsOfDebt: Double =
    math.max(0.0, math.max(-records / recordsPerSecond, -bytes / bytesPerSecond))

  /** The time in which so much flows in at the rate of the whole quota, in seconds. */
  def cost(sum: RecordSum): Double = rate * math.max(
    sum.records / recordsPerSecond,
    sum.bytes / bytesPerSecond
  )
}

private object QuotaBuckets {

  /**
   * The flow in seconds that is worth waiting for: half of a small burst, so that a request that
   * waits a little loses nothing.
   */
  private val Worth = 0.025
}

/** A number of Kinesis records and their bytes, including partition keys. */
private[sink] final case class RecordSum(records: Long, bytes: Long) {

  /** With one more record. */
  def +(size: Int): RecordSum = RecordSum(records + 1, bytes + size)

  def +(other: RecordSum): RecordSum = RecordSum(records + other.records, bytes + other.bytes)
}

private[sink] object RecordSum {
  val Zero: RecordSum = RecordSum(0, 0)
}
