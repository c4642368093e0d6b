package sparkkinesis.source.pace

import sparkkinesis.model.ServiceLimits

/**
 * What is left of a shard's quota: a token bucket of calls and one of bytes. Each holds what one
 * second allows, and is full at first.
 *
 * A call needs only one byte, because its size is not known before the answer. A larger page leaves
 * a debt, and a page of more than one second is paid back in whole.
 *
 * @param start the current time, in milliseconds since any instant, like all times here
 */
private[pace] final class ReadBuckets(start: Long) {
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

private[pace] object ReadBuckets {
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
