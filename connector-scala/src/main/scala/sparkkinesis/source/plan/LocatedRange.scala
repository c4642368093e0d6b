package sparkkinesis.source.plan

import java.time.Instant

import sparkkinesis.compat._
import sparkkinesis.model.PackedRecords
import sparkkinesis.shard.ShardRange
import sparkkinesis.source.protocol.Mark

/**
 * A range that a task will read, with the location and the marks of its pages.
 *
 * @param marks after its beginning and up to its end; empty if they are not known, as after a
 *   restart
 */
private[sparkkinesis] final case class LocatedRange[+P](
    range: ShardRange,
    place: Option[P],
    marks: Vector[Mark]
) {

  /** Approximate bytes of its pages; 1 if they are not known. */
  lazy val weight: Long = math.max(1, marks.foldLeft(0L)(_ + LocatedRange.weightOf(_)))

  /** The largest number of parts with records. */
  def mostParts: Int = math.max(1, marks.count(_.records > 0))

  /**
   * Cuts the range into consecutive parts of about the same weight. Each part begins and ends at a
   * mark, so tasks find it in the pages, or read it again, like any other range.
   *
   * @param parts up to [[mostParts]]
   */
  def cut(parts: Int): Vector[LocatedRange[P]] = {
    val ends = cuts(parts) :+ (marks.size - 1)
    if (parts <= 1) Vector(this)
    else (-1 +: ends).zip(ends).map { case (before, last) => part(before, last) }
  }

  /**
   * The index of the mark at which each part ends, except the last. Leaves at least one mark for
   * each.
   */
  private def cuts(parts: Int): Vector[Int] = {
    val sums = marks.map(LocatedRange.weightOf).scanLeft(0L)(_ + _).drop(1)
    (1 until parts).foldLeft(Vector.empty[Int]) { (before, part) =>
      val first = before.lastOption.fold(0)(_ + 1)
      val due = sums.last / parts * part
      val wanted = sums.indexWhere(_ >= due, first)
      before :+ math.min(wanted, mostParts - 1 - (parts - part))
    }
  }

  /**
   * @param before index of the mark after which the part begins; -1 for the beginning of the range
   */
  private def part(before: Int, last: Int): LocatedRange[P] =
    if (before < 0) copy(range.copy(upTo = marks(last).upTo), marks = marks.take(last + 1))
    else {
      val begin = marks(before)
      val arrived = Option.when(begin.lastArrivalMillis > 0) {
        Instant.ofEpochMilli(begin.lastArrivalMillis)
      }
      copy(
        range.copy(
          from = begin.upTo,
          upTo = marks(last).upTo,
          completeAsOf = (range.completeAsOf ++ arrived).maxOption,
          first = None
        ),
        marks = marks.slice(before + 1, last + 1)
      )
    }
}

private[sparkkinesis] object LocatedRange {
  private def weightOf(mark: Mark): Long = mark.bytes + mark.records * PackedRecords.UsualOverhead
}
