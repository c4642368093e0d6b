package sparkkinesis.simulator.quota

import java.time.{Duration, Instant}

/**
 * A token bucket that fills continuously. It counts in billionths of a unit, so that it is exact to
 * the nanosecond.
 *
 * @param perSecond rate in units per second: 1 to 100,000,000
 * @param most capacity in units: 1 to 100,000,000
 * @param left amount in billionths of a unit; negative while a debt is paid back
 * @param at time at which the bucket had that amount
 */
private[simulator] final case class Bucket private (
    perSecond: Long,
    most: Long,
    left: Long,
    at: Instant
) {
  import Bucket.Whole

  /**
   * Takes an amount, if the bucket has it. An amount above the capacity requires a full bucket,
   * passes at once, and leaves a debt, so that the average rate is kept.
   */
  def take(amount: Long, now: Instant): Option[Bucket] = {
    val bucket = filled(now)
    Option.when(bucket.left >= math.min(amount, most) * Whole)(bucket.without(amount * Whole))
  }

  /**
   * Takes an amount if the bucket is not empty, because a reader cannot know the size of a page in
   * advance. An amount of more than one second is paid back completely: the amount of 5 seconds
   * takes 5 seconds.
   */
  def overdraw(amount: Long, now: Instant): Option[Bucket] = {
    val bucket = filled(now)
    Option.when(bucket.left >= Whole) {
      // At the end of the pause the bucket has one unit again.
      if (amount > most) bucket.copy(left = Whole - amount * Whole)
      else bucket.without(amount * Whole)
    }
  }

  def isFull(now: Instant): Boolean = filled(now).left == capacity

  private def capacity: Long = most * Whole

  private def without(billionths: Long): Bucket = copy(left = left - billionths)

  /** A time before the last one counts as the last one. */
  private def filled(now: Instant): Bucket = {
    val toFull = (capacity - left + perSecond - 1) / perSecond
    if (!now.isAfter(at)) this
    else if (!now.isBefore(at.plusNanos(toFull))) copy(left = capacity, at = now)
    else copy(left = left + Duration.between(at, now).toNanos * perSecond, at = now)
  }
}

private[simulator] object Bucket {
  private val Whole = 1000000000L

  /** A bucket that holds the amount of one second. */
  def full(perSecond: Long, now: Instant): Bucket = full(perSecond, now, perSecond)

  def full(perSecond: Long, now: Instant, most: Long): Bucket =
    Bucket(perSecond, most, most * Whole, now)
}
