package sparkkinesis.simulator.quota

import java.time.{Duration, Instant}

/**
 * What is left of a rate: it fills all the time, up to one second's worth. Exact: whole units are
 * taken, and billionths of them flow back each nanosecond.
 *
 * @param perSecond the rate, in units a second, and what a full bucket holds: 1 to 100,000,000
 * @param left in billionths of a unit; below zero while a debt is paid back
 * @param at when so much was left
 */
private[simulator] final case class Bucket private (perSecond: Long, left: Long, at: Instant) {
  import Bucket.Whole

  /**
   * Without that amount, where it is there. More than a full bucket holds is taken from a full one
   * and leaves a debt: it passes at once, and the average is kept by the pause that follows.
   */
  def take(amount: Long, now: Instant): Option[Bucket] = {
    val bucket = filled(now)
    Option.when(bucket.left >= math.min(amount, perSecond) * Whole)(bucket.without(amount * Whole))
  }

  /**
   * Without that amount, if anything is there at all: who asks cannot know how much it will be.
   * More than a second's worth is paid back in whole, from nothing: 5 seconds of it take 5 seconds.
   */
  def overdraw(amount: Long, now: Instant): Option[Bucket] = {
    val bucket = filled(now)
    Option.when(bucket.left >= Whole) {
      // The one unit is there again at the very end of the pause.
      if (amount > perSecond) bucket.copy(left = Whole - amount * Whole)
      else bucket.without(amount * Whole)
    }
  }

  def isFull(now: Instant): Boolean = filled(now).left == capacity

  private def capacity: Long = perSecond * Whole

  private def without(billionths: Long): Bucket = copy(left = left - billionths)

  /** A time before the last is taken for the last. */
  private def filled(now: Instant): Bucket = {
    val toFull = (capacity - left + perSecond - 1) / perSecond
    if (!now.isAfter(at)) this
    else if (!now.isBefore(at.plusNanos(toFull))) copy(left = capacity, at = now)
    else copy(left = left + Duration.between(at, now).toNanos * perSecond, at = now)
  }
}

private[simulator] object Bucket {
  private val Whole = 1000000000L

  def full(perSecond: Long, now: Instant): Bucket = Bucket(perSecond, perSecond * Whole, now)
}
