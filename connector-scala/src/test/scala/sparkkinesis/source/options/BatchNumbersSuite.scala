package sparkkinesis.source.options

import scala.collection.immutable.SortedSet

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BatchNumbersSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val numbers = Gen.nonEmptyListOf(Gen.choose(0L, 60L)).map(SortedSet(_: _*))

  test("numbers and ranges are a set, in any order") {
    assert(BatchNumbers.parse("120-124").contains(SortedSet(120L to 124L: _*)))
    assert(BatchNumbers.parse(" 7 , 3 - 4,3").contains(SortedSet(3L, 4L, 7L)))
    assert(BatchNumbers.parse("0-9999").exists(_.size == BatchNumbers.Most))
  }

  test("other texts are refused, also ranges that are too large to hold") {
    val texts = Seq("", "a", "1-", "-1", "4-3", "1,", "1..2", "0-9223372036854775807", "0-10000")
    texts.foreach(text => assert(BatchNumbers.parse(text).isEmpty, text))
  }

  test("a message has the same numbers as the set") {
    assert(BatchNumbers.text(SortedSet(3L, 120L, 121L)) === "3, 120 to 121")
    assert(BatchNumbers.text(SortedSet.empty[Long]) === "none")
    forAll(numbers) { all =>
      assert(BatchNumbers.parse(BatchNumbers.text(all).replace(" to ", "-")).contains(all))
    }
  }
}
