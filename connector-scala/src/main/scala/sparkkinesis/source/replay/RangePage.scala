package sparkkinesis.source.replay

import java.time.Instant

import sparkkinesis.client.Page
import sparkkinesis.compat._
import sparkkinesis.model.PackedRecords
import sparkkinesis.model.offset.Progress
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

  /** The records of the range. */
  val wanted: PackedRecords = range.upTo match {
    case Progress.After(last) =>
      records.take(records.countWhile(records.compareNumber(_, last) <= 0))
    case _ =>
      range.until.fold(records) { end =>
        records.take(records.countWhile(records.arrivalMillis(_) < end.millis))
      }
  }

  /** The progress after the wanted records. */
  val progress: Progress =
    if (wanted.isEmpty) before else Progress.After(wanted.sequenceNumber(wanted.size - 1))

  def lastArrival: Option[Instant] =
    wanted.lastArrivalMillis.map(Instant.ofEpochMilli)

  private val isPassed = wanted.size < records.size
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
