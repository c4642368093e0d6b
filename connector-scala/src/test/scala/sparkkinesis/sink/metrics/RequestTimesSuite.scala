package sparkkinesis.sink.metrics

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

  test("a percentile is exact, or at most one sixteenth too large") {
    forAll(Gen.nonEmptyListOf(millis), Gen.choose(0.01, 1.0)) { (all, fraction) =>
      val exact = all.sorted.apply(math.ceil(all.size * fraction).toInt - 1)
      val found = times(all).percentile(fraction)
      assert(found >= exact && found <= exact + exact / 16)
    }
  }

  test("the sum of two histograms is the histogram of all requests") {
    forAll(lists, lists)((a, b) => assert(times(a) + times(b) === times(a ++ b)))
  }

  test("the percentiles of no request are 0") {
    assert(times(Nil).percentile(0.99) === 0 && times(Nil) === RequestTimes.None)
  }
}
