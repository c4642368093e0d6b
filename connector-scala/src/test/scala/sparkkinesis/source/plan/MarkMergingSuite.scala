package sparkkinesis.source.plan

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol.{Mark, ReadLimits}

class MarkMergingSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def mark(number: Int) =
    Mark(Progress.After(SequenceNumber(number.toString)), 1, 10, number.toLong)

  /** The marks after that many pages of one record each, which no batch has read. */
  private def after(pages: Int, distance: ReadLimits): Vector[Mark] =
    (1 to pages).foldLeft(Vector.empty[Mark]) { (marks, number) =>
      MarkMerging.bounded(marks :+ mark(number), distance)
    }

  test("a day of small pages makes few marks, which stand for the same records") {
    val marks = after(5 * 86400, ReadLimits.None)
    assert(marks.size <= 256)
    assert(marks.map(_.records).sum === 5 * 86400 && marks.map(_.bytes).sum === 50 * 86400)
    assert(marks.last === mark(5 * 86400) && marks === marks.sortBy(_.lastArrivalMillis))
  }

  test("joined marks are ends of earlier ones, no larger than the distance, and few fit into it") {
    forAll(Gen.choose(1, 3000), Gen.choose(1L, 50L)) { (pages, records) =>
      val marks = after(pages, ReadLimits(Some(records), None))
      assert(marks.forall(_.records <= records) && marks.map(_.records).sum === pages)
      assert(marks.forall(it => it.upTo == mark(it.lastArrivalMillis.toInt).upTo))
      assert(marks.size <= 256 + 4 * pages / records)
    }
  }

  test("the latest marks, where a batch was just planned to end, stay") {
    val marks = after(1000, ReadLimits.None)
    assert(marks.takeRight(100) === (901 to 1000).map(mark))
  }
}
