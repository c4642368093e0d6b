package sparkkinesis.bench.report

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class SamplesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val some = Gen.nonEmptyListOf(Gen.choose(-1e6, 1e6))

  test("at most half of the values lie on each side of the median, whatever their order") {
    forAll(some) { values =>
      val samples = Samples(values)
      assert(values.count(_ < samples.median) <= values.size / 2)
      assert(values.count(_ > samples.median) <= values.size / 2)
      assert(Samples(values.reverse).median === samples.median)
      assert(samples.min === values.min && samples.max === values.max)
    }
  }

  test("a percentile is one of the values, and covers its fraction of them") {
    forAll(some, Gen.choose(0.0, 1.0)) { (values, share) =>
      val found = Samples(values).percentile(share)
      assert(values.contains(found))
      assert(values.count(_ <= found) >= share * values.size)
      assert(values.count(_ < found) <= share * values.size)
    }
  }

  test("the median of no values is an error") {
    assertThrows[IllegalArgumentException](Samples(Nil))
  }
}
