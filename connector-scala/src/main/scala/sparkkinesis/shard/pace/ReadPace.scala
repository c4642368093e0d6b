package sparkkinesis.shard.pace

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, Page}
import sparkkinesis.compat._
import sparkkinesis.model.{PackedRecords, ServiceLimits}

/**
 * When one shard may be read next, and how much at once. All readers of the shard on this executor
 * share it. Thread-safe.
 *
 * @param evidence whether the stream has a quota. Without one, nothing is delayed except retries
 *   after refusals.
 * @param start the current time, in milliseconds since any instant, like all times here
 */
private[sparkkinesis] final class ReadPace private[pace] (evidence: QuotaEvidence, start: Long) {
  import ReadPace._

  private val buckets = new ReadBuckets(start)
  private val share = new ReadShare
  private var refusedAt = start
  @volatile private var usedAt = start
  private var recordBytes = FirstRecordBytes // mean of the last page with records

  /** The time until a call may begin; `None` if one may begin now. */
  def pause(now: Long): Option[FiniteDuration] = synchronized {
    usedAt = now
    buckets.fill(now, share.value)
    val paced = if (evidence.isLimited) buckets.secondsUntilCall / share.value else 0.0
    val wait = math.max(paced, share.penalty / share.value - (now - refusedAt) / 1000.0)
    Option.when(wait > 0)(math.ceil(wait * 1000).toLong.millis)
  }

  /** @return the time until a call may begin, or the call, which begins now */
  def next(now: Long): Either[FiniteDuration, ReadCall] = synchronized {
    pause(now).toLeft(begin())
  }

  private def begin(): ReadCall = {
    val expected =
      if (evidence.isLimited) (share.pageSeconds * ReadBuckets.BytesPerSecond).toLong else 0L
    val call = new ReadCall(expected, buckets.debt)
    buckets.begin(expected)
    call
  }

  /** The limit of a call that has begun. */
  def limit(call: ReadCall, mostRecords: Int): Int =
    if (call.expected == 0) mostRecords
    else {
      val fitting = call.expected / synchronized(recordBytes)
      math.max(1, math.min(mostRecords.toLong, fitting).toInt)
    }

  /** The call has returned the page. */
  def answered(call: ReadCall, page: Page, now: Long): Unit =
    answered(call, PackedRecords(page.records), now)

  /** The call has failed. */
  def failed(call: ReadCall, failure: KinesisException, now: Long): Unit = failure match {
    case _: KinesisException.Throttled => refused(call, now)
    // The service may have used the quota for a response that did not arrive.
    case _: KinesisException.Unreachable | _: KinesisException.Other =>
    case _ => synchronized(buckets.failed(call.expected))
  }

  /**
   * The response of a failed call was not read, because there was no memory for it. The service has
   * used the quota for it.
   *
   * @param bytes of the response
   * @param now the current time
   */
  def unread(call: ReadCall, bytes: Long, now: Long): Unit = synchronized {
    buckets.fill(now, share.value)
    buckets.answered(call.expected, bytes)
  }

  /** Whether it remembers nothing that matters: no reader has used it for long. */
  private[pace] def isIdle(now: Long): Boolean = now - usedAt > IdleTime.toMillis

  private def answered(call: ReadCall, records: PackedRecords, now: Long): Unit = synchronized {
    val bytes = quotaBytes(records)
    buckets.fill(now, share.value)
    buckets.answered(call.expected, bytes)
    if (records.nonEmpty) recordBytes = math.max(1L, bytes / records.size)
    evidence.answered(call.debt)
    share.answered(bytes / ReadBuckets.BytesPerSecond)
  }

  /** A refusal that this executor's own reading explains says nothing about other consumers. */
  private def refused(call: ReadCall, now: Long): Unit = synchronized {
    buckets.fill(now, share.value)
    evidence.refused(call.debt)
    share.refused(isOwnFault = call.debt > 0)
    buckets.refused(call.expected, share.penalty)
    refusedAt = now
  }
}

private object ReadPace {

  /**
   * The assumed size of the first records. It makes the first page small where there is a quota,
   * because others may read the shard, too.
   */
  private val FirstRecordBytes = 1024L

  /** Longer than any pause. */
  private val IdleTime = 10.minutes

  /** The quota counts partition keys, too. */
  private def quotaBytes(records: PackedRecords): Long = {
    var bytes = records.dataBytes
    var index = 0
    while (index < records.size) {
      if (records.hasKey(index)) bytes += records.keyLength(index)
      index += 1
    }
    bytes
  }
}

/**
 * A `GetRecords` call that may be made.
 *
 * @param expected bytes that it is expected to return; 0 without a quota
 * @param debt seconds of the quota that were used in advance when it began
 */
private[sparkkinesis] final class ReadCall private[pace] (
    private[pace] val expected: Long,
    private[pace] val debt: Double
)

/**
 * What is left of a shard's quota: a token bucket of calls and one of bytes. Each holds what one
 * second allows, and is full at first.
 *
 * A call needs only one byte, because its size is not known before the answer. A larger page leaves
 * a debt, and a page of more than one second is paid back in whole.
 *
 * @param start the current time, in milliseconds since any instant, like all times here
 */
private final class ReadBuckets(start: Long) {
  import ReadBuckets._

  private var bytes = BytesPerSecond
  private var calls = CallsPerSecond
  private var filledAt = start

  /** @param share of the quota at which the buckets fill, 0 to 1 */
  def fill(now: Long, share: Double): Unit = if (now > filledAt) {
    val seconds = (now - filledAt) / 1000.0 * share
    bytes = math.min(BytesPerSecond, bytes + BytesPerSecond * seconds)
    calls = math.min(CallsPerSecond, calls + CallsPerSecond * seconds)
    filledAt = now
  }

  /** Seconds of the quota until the next call: 0 or less if it may begin. */
  def secondsUntilCall: Double =
    math.max(Reserve - bytes / BytesPerSecond, (1 - calls) / CallsPerSecond)

  /** Seconds of the quota that are used up in advance; 0 or less if nothing is. */
  def debt: Double = math.max(-bytes / BytesPerSecond, -calls / CallsPerSecond)

  /** Takes one call and the bytes that it will probably return. */
  def begin(expected: Long): Unit = {
    bytes -= expected
    calls -= 1
  }

  /** The call returned so many bytes. */
  def answered(expected: Long, actual: Long): Unit = {
    val before = bytes + expected
    val from = if (actual > BytesPerSecond) math.min(0.0, before) else before
    bytes = math.max(-LongestDebt * BytesPerSecond, from - actual)
    calls = math.max(-LongestDebt * CallsPerSecond, calls)
  }

  /** The call returned no bytes. */
  def failed(expected: Long): Unit = bytes += expected

  /**
   * The service refused the call, which used nothing. Others have emptied the shard's buckets.
   *
   * @param penalty seconds of the quota that the next call must wait for at least
   */
  def refused(expected: Long, penalty: Double): Unit = {
    bytes = math.min(bytes + expected, (Reserve - penalty) * BytesPerSecond)
    calls += 1
  }
}

private object ReadBuckets {
  val BytesPerSecond: Double = ServiceLimits.ReadBytesPerSecond.toDouble
  private val CallsPerSecond = 1000.0 / ServiceLimits.GetRecordsPeriod.toMillis

  /**
   * The reserve in seconds. Calls take different times to arrive, and one that is too early is
   * refused.
   */
  private val Reserve = 0.08

  /**
   * The longest debt in seconds: twice the debt of the largest page. Only a server without quotas
   * allows more.
   */
  private val LongestDebt = 10.0
}
