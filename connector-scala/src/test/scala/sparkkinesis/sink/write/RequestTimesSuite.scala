package sparkkinesis.sink.write

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class RequestTimesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val millis =
    Gen.frequency(
      4 -> Gen.choose(0L, 20L),
      4 -> Gen.choose(0L, 5000L),
      1 -> Gen.choose(0L, 1L << 30)
    )
  private val lists = Gen.listOf(millis)

  private def times(all: Seq[Long]) = {
    val recorder = new RequestTimes.Recorder
    all.foreach(recorder.add)
    recorder.result
  }

  test("a percentile is the time within which so many ended, a sixteenth more at most") {
    forAll(Gen.nonEmptyListOf(millis), Gen.choose(0.01, 1.0)) { (all, part) =>
      val exact = all.sorted.apply(math.ceil(all.size * part).toInt - 1)
      val told = times(all).percentile(part)
      assert(told >= exact && told <= exact + exact / 16)
    }
  }

  test("the times of two writers are those of one that did both") {
    forAll(lists, lists)((a, b) => assert(times(a) + times(b) === times(a ++ b)))
  }

  test("without a request there is no time to tell") {
    assert(times(Nil).percentile(0.99) === 0 && times(Nil) === RequestTimes.None)
  }
}
