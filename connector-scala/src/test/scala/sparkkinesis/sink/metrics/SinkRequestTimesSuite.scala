package sparkkinesis.sink.metrics

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** The times of requests, in the metrics of one writer and of several. */
class SinkRequestTimesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val millis =
    Gen.frequency(
      4 -> Gen.choose(0L, 20L),
      4 -> Gen.choose(0L, 5000L),
      1 -> Gen.choose(0L, 1L << 30)
    )
  private val lists = Gen.listOf(millis)

  private def metrics(all: Seq[Long]): SinkMetrics = {
    val counters = new SinkCounters
    all.foreach(counters.requestEnded)
    counters.snapshot(Vector.empty)
  }

  test("99 % of all requests end within the percentile, which is at most a sixteenth too large") {
    forAll(Gen.nonEmptyListOf(millis)) { all =>
      val exact = all.sorted.apply((all.size * 99 + 99) / 100 - 1)
      val found = metrics(all).requestMillis99
      assert(found >= exact && found <= exact + exact / 16)
    }
  }

  test("the sum of two writers contains the requests of both") {
    forAll(lists, lists) { (a, b) =>
      assert((metrics(a) + metrics(b)).requestTimes === metrics(a ++ b).requestTimes)
    }
  }

  test("without requests the percentile is 0") {
    assert(SinkMetrics.Zero.requestMillis99 === 0)
  }

  test("a snapshot of the metrics does not change when the writer goes on") {
    val counters = new SinkCounters
    counters.requestEnded(5)
    val before = counters.snapshot(Vector.empty)
    counters.requestEnded(5000)
    assert(before.requestMillis99 === 5)
  }
}
