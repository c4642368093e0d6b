package sparkkinesis.source.replay

import java.time.Instant

import sparkkinesis.client.Page
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ArrivalTimes, PackedRecords}
import sparkkinesis.source.protocol.ShardRange

/**
 * What one page contains of a range, and whether the range is complete with it.
 *
 * @param before progress at which the page begins
 * @param isEnd whether the shard ends with the page
 */
private[replay] final class RangePage(
    range: ShardRange,
    before: Progress,
    page: Page,
    isEnd: Boolean
) {
  private val records = PackedRecords(page.records)

  /** The records up to the end of the range. */
  private val read: PackedRecords = range.upTo match {
    case Progress.After(last) =>
      records.take(records.countWhile(records.compareNumber(_, last) <= 0))
    case _ =>
      range.until.map(end => ArrivalTimes.lastDoubt(end.millis)).fold(records) { last =>
        records.take(records.countWhile(records.arrivalMillis(_) < last))
      }
  }

  /** The records of the range. */
  val wanted: PackedRecords = read.arrived(
    since = range.sinceMillis.getOrElse(Long.MinValue),
    before = range.until.fold(Long.MaxValue)(_.millis)
  )

  /** After the records that were read. */
  val progress: Progress =
    if (isEmpty) before else Progress.After(read.sequenceNumber(read.size - 1))

  /** Whether the page has no record up to the end of the range. */
  def isEmpty: Boolean = read.isEmpty

  def lastArrival: Option[Instant] = read.lastArrivalMillis.map(Instant.ofEpochMilli)

  private val isPassed = read.size < records.size
  private val isTip = records.isEmpty && page.isAtTip && page.next.nonEmpty

  /** Whether the range reaches the end of its shard with this page. */
  def isShardEnd: Boolean = isEnd && !isPassed

  private val isComplete =
    progress == range.upTo ||
      range.upTo == Progress.Finished && isEnd ||
      range.until.nonEmpty && (isPassed || isTip)

  /** The range's last record existed, so a later record or the tip without it is a loss. */
  val isLastMissing: Boolean =
    !isComplete && range.upTo != Progress.Finished && (isPassed || isTip || isEnd)

  /** Whether the first record that Kinesis still has is not the range's first record. */
  val isFirstMissing: Boolean = before == range.start && range.first.exists { first =>
    if (records.isEmpty) isTip || isEnd else first != records.sequenceNumber(0)
  }

  /** Whether no later page contains records of the range. */
  def isLast: Boolean = isComplete || isLastMissing

  /** Whether the page looks as if a record of the range were gone. */
  def isMissing: Boolean = isFirstMissing || isLastMissing
}
