package sparkkinesis.source.plan

import java.time.Instant

import sparkkinesis.compat._
import sparkkinesis.model.PackedRecords
import sparkkinesis.source.protocol.{Mark, ShardRange}

/**
 * A range that a task will read, and what reading ahead knows of it.
 *
 * @param place of its pages
 * @param marks behind its beginning and up to its end; none where nothing is known, as after a restart
 */
final case class LocatedRange[+P](range: ShardRange, place: Option[P], marks: Vector[Mark]) {

  /** The bytes its pages take, about; 1 where nothing is known. */
  lazy val weight: Long = math.max(1, marks.foldLeft(0L)(_ + LocatedRange.weightOf(_)))

  /** Into how many parts with records it can be cut. */
  def mostParts: Int = math.max(1, marks.count(_.records > 0))

  /**
   * Parts one after the other, each about as heavy. Each is a range like any other: it begins behind a
   * mark, and is found in the pages or read again alike.
   *
   * @param parts up to [[mostParts]]
   */
  def cut(parts: Int): Vector[LocatedRange[P]] = {
    val ends = cuts(parts) :+ (marks.size - 1)
    if (parts <= 1) Vector(this)
    else (-1 +: ends).zip(ends).map { case (before, last) => part(before, last) }
  }

  /** The mark that each part ends at, without the last one's. At least one mark is left for each. */
  private def cuts(parts: Int): Vector[Int] = {
    val sums = marks.map(LocatedRange.weightOf).scanLeft(0L)(_ + _).drop(1)
    (1 until parts).foldLeft(Vector.empty[Int]) { (before, part) =>
      val first = before.lastOption.fold(0)(_ + 1)
      val due = sums.last / parts * part
      val wanted = sums.indexWhere(_ >= due, first)
      before :+ math.min(wanted, mostParts - 1 - (parts - part))
    }
  }

  /** @param before the mark it begins behind; -1 where the range itself does */
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
          completeAsOf = (range.completeAsOf ++ arrived).maxOption
        ),
        marks = marks.slice(before + 1, last + 1)
      )
    }
}

object LocatedRange {
  private def weightOf(mark: Mark): Long = mark.bytes + mark.records * PackedRecords.UsualOverhead
}
