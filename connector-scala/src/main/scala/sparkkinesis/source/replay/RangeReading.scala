package sparkkinesis.source.replay

import java.time.Instant

import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.options.FailureStreak

/**
 * How far a range has been read.
 *
 * @param completeAsOf all records of the range that arrived before have been read
 * @param isSecondLook whether the last answer looked like a loss
 * @param isEndDoubted whether the last answer said that the shard has ended, without children
 * @param streak failures since the last page, without refusals
 * @param refusals since the last page
 */
private[replay] final case class RangeReading(
    progress: Progress,
    iterator: Option[ShardIterator],
    completeAsOf: Option[Instant],
    isSecondLook: Boolean = false,
    isEndDoubted: Boolean = false,
    streak: Option[FailureStreak] = None,
    refusals: Int = 0
) {
  def failures: Int = streak.fold(0)(_.failures)

  /** The streak with one more failure. */
  def nextStreak(now: Instant): FailureStreak = streak.fold(FailureStreak(1, now))(_.next)

  /** Whether this may be no end of the shard. See `ShardEnd`. */
  def isDoubtful(page: Page): Boolean =
    page.next.isEmpty && page.children.isEmpty && !(isEndDoubted && page.records.isEmpty)

  /** A page with records refutes a suspected loss. An empty page does not. */
  def after(page: RangePage, next: Option[ShardIterator], isEndDoubted: Boolean): RangeReading =
    RangeReading(
      page.progress,
      next,
      page.lastArrival.orElse(completeAsOf),
      isSecondLook && page.isEmpty,
      isEndDoubted
    )
}
