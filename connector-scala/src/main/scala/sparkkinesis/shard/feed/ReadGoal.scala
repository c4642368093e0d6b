package sparkkinesis.shard.feed

import java.time.Instant

import sparkkinesis.client.Page
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ArrivalTimes, PackedRecords}
import sparkkinesis.shard.ShardRange

/** Where a [[ShardReader]] ends, and what is wanted until then. */
private[sparkkinesis] sealed trait ReadGoal {

  /** What is to be read. */
  def range: ShardRange

  /**
   * @param before progress at which the page begins
   * @param isEnd whether the shard ends with the page
   */
  def reach(page: Page, before: Progress, isEnd: Boolean): ReadGoal.Reach

  /** `completeAsOf` of the shard once the goal is reached. */
  def completeAsOf: Option[Instant]

  /** Whether the clock decides if records at this place have expired. */
  def isTimed(before: Progress): Boolean

  /** What is still to be read, for messages. */
  def rest(at: Progress, completeAsOf: Option[Instant]): ShardRange
}

private[sparkkinesis] object ReadGoal {

  /**
   * What a page has of the goal.
   *
   * @param read the records up to the goal
   * @param wanted the records among them that are wanted
   * @param isReached whether no later page has wanted records
   * @param missing which record should be here and is not, if the page looks like that
   */
  final case class Reach(
      read: PackedRecords,
      wanted: PackedRecords,
      isReached: Boolean,
      missing: Option[String] = None
  )

  /**
   * The end of the shard or, with `Trigger.AvailableNow`, the stop time of the query: each record
   * that arrived by then is read, and some that arrived up to [[ArrivalTimes.Margin]] later. The
   * rest would occupy the store until the query ends, because no batch reads it.
   */
  final case class Ahead(range: ShardRange, stopAtMillis: Option[Long]) extends ReadGoal {
    private val lastDoubt = stopAtMillis.map(ArrivalTimes.lastDoubt)

    override val completeAsOf: Option[Instant] = lastDoubt.map(Instant.ofEpochMilli)

    override def reach(page: Page, before: Progress, isEnd: Boolean): Reach = {
      val all = PackedRecords(page.records)
      val read = lastDoubt.fold(all) { last =>
        all.take(all.countWhile(all.arrivalMillis(_) <= last))
      }
      Reach(read, read, isReached = read.size < all.size)
    }

    override def isTimed(before: Progress): Boolean = true

    override def rest(at: Progress, completeAsOf: Option[Instant]): ShardRange =
      range.copy(from = at, completeAsOf = completeAsOf)
  }

  /**
   * The end of a range, with exactly its records.
   *
   * @param mayAppear whether the last record may be visible only later
   */
  final case class Exactly(range: ShardRange, mayAppear: Boolean = false) extends ReadGoal {
    override def completeAsOf: Option[Instant] = None

    override def reach(page: Page, before: Progress, isEnd: Boolean): Reach = {
      val all = PackedRecords(page.records)
      val read = all.take(all.countWhile(isWithin(all, _)))
      val isPassed = read.size < all.size
      val isTip = all.isEmpty && page.isAtTip && page.next.nonEmpty && !mayAppear
      val isLast = lastOf(read).getOrElse(before) == range.upTo
      // The last record existed, so a later record or the tip without it is a loss.
      val isOver = isPassed || isTip || isEnd
      val lacksLast = range.upTo != Progress.Finished && isOver && !isLast
      val lacksFirst = before == range.start && range.first.exists { first =>
        if (all.isEmpty) isTip || isEnd else first != all.sequenceNumber(0)
      }
      Reach(
        read,
        wantedOf(read),
        isReached = isLast || lacksLast || range.until.nonEmpty && (isPassed || isTip),
        if (lacksLast) Some("its last record is gone")
        else if (lacksFirst) Some(s"its first record, ${range.first.mkString}, is gone")
        else None
      )
    }

    private def isWithin(all: PackedRecords, index: Int): Boolean = range.upTo match {
      case Progress.After(last) => all.compareNumber(index, last) <= 0
      case _ =>
        range.until.forall(end => all.arrivalMillis(index) < ArrivalTimes.lastDoubt(end.millis))
    }

    private def wantedOf(read: PackedRecords) = read.arrived(
      since = range.sinceMillis.getOrElse(Long.MinValue),
      before = range.until.fold(Long.MaxValue)(_.millis)
    )

    /**
     * The start of a range, unless its first record is known. The last record of a batch read is
     * not known, so a loss on the way would not be noticed otherwise.
     */
    override def isTimed(before: Progress): Boolean =
      range.until.nonEmpty || before == range.start && range.first.isEmpty

    override def rest(at: Progress, completeAsOf: Option[Instant]): ShardRange = range
  }

  /** The progress after the last record, if there is one. */
  private[feed] def lastOf(records: PackedRecords): Option[Progress] =
    Option.when(records.nonEmpty)(Progress.After(records.sequenceNumber(records.size - 1)))
}
