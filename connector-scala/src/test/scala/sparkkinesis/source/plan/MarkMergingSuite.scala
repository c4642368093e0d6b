package sparkkinesis.source.plan

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol.{Mark, MarkBudget, ReadLimits}

class MarkMergingSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def mark(number: Int) =
    Mark(Progress.After(SequenceNumber(number.toString)), 1, 10, number.toLong, number.toLong)

  /** The marks after that many pages of one record each, which no batch has read. */
  private def after(
      pages: Int,
      distance: ReadLimits,
      most: Int = 1000,
      end: Option[Progress] = None
  ): Vector[Mark] =
    (1 to pages).foldLeft(Vector.empty[Mark]) { (marks, number) =>
      MarkMerging.bounded(marks :+ mark(number), most, distance, end)
    }

  test("a day of small pages makes few marks, which stand for the same records") {
    val marks = after(5 * 86400, ReadLimits.None)
    assert(marks.size <= 256)
    assert(marks.map(_.records).sum === 5 * 86400 && marks.map(_.bytes).sum === 50 * 86400)
    assert(marks.last === mark(5 * 86400) && marks === marks.sortBy(_.lastArrivalMillis))
    assert(marks.map(_.firstArrivalMillis) === 1L +: marks.init.map(_.lastArrivalMillis + 1))
  }

  test("joined marks are ends of earlier ones, no larger than the distance, and few fit into it") {
    forAll(Gen.choose(1, 3000), Gen.choose(1L, 50L)) { (pages, records) =>
      val marks = after(pages, ReadLimits(Some(records), None))
      assert(marks.forall(_.records <= records) && marks.map(_.records).sum === pages)
      assert(marks.forall(it => it.upTo == mark(it.lastArrivalMillis.toInt).upTo))
      assert(marks.size <= 256 + 4 * pages / records)
    }
  }

  test("a joined mark has the latest arrival time of both") {
    val falling =
      (1 to 300).toVector.map(number => mark(number).copy(lastArrivalMillis = -number.toLong))
    val joined = MarkMerging.bounded(falling, 256, ReadLimits.None, None)
    assert(
      joined.map(_.lastArrivalMillis) === (1 to 149 by 2).map(-_.toLong) ++ (151 to 300).map(
        -_.toLong
      )
    )
  }

  test("the marks of a query are bounded, however many shards it has") {
    for (shards <- Seq(1, 1000, 10000, 12500)) {
      val marks = after(1000, ReadLimits.None, MarkBudget.ofShard(shards))
      assert(marks.size * shards <= 200000 && marks.size >= 8)
      assert(marks.map(_.records).sum === 1000 && marks.last === mark(1000))
    }
  }

  test("the end of the batch that is being planned stays") {
    for (number <- 1 to 50) {
      val end = mark(number).upTo
      assert(after(1000, ReadLimits.None, most = 20, Some(end)).exists(_.upTo == end))
    }
  }
}
