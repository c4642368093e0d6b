package sparkkinesis.shard

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class DurationsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val duration = Gen.frequency(
    8 -> Gen.choose(0L, 300L),
    1 -> Gen.choose(0L, 100000L),
    1 -> Gen.choose(0L, Long.MaxValue)
  )
  private val durations = Gen.listOf(duration)

  private def of(millis: Seq[Long]) =
    Durations(millis.groupBy(Durations.bucketOf).map { case (bucket, all) =>
      bucket -> all.size.toLong
    })

  test(
    "percentiles are exact up to 16 ms, and never too small or more than a sixteenth too large"
  ) {
    forAll(Gen.nonEmptyListOf(duration)) { millis =>
      Seq(0.5 -> of(millis).p50, 0.99 -> of(millis).p99).foreach { case (share, found) =>
        val exact = millis.sorted.apply(math.ceil(millis.size * share).toInt - 1)
        val told = found.get
        assert(told >= exact && (told - exact <= exact / 16))
        if (exact < 16) assert(told === exact)
      }
    }
  }

  test("times can be added and taken away again") {
    forAll(durations, durations) { (some, others) =>
      assert(of(some) + of(others) === of(some ++ others))
      assert(of(some ++ others) - of(others) === of(some))
    }
    assert(Durations.Zero.p99.isEmpty)
  }

  test("one slow request of a hundred does not count, two do") {
    assert(of(Seq.fill(99)(10L) :+ 5000L).p99.contains(10L))
    assert(of(Seq.fill(98)(10L) ++ Seq(5000L, 5000L)).p99.exists(_ >= 5000L))
  }

  test("every duration has a bucket") {
    assert(Durations.bucketOf(Long.MaxValue) < Durations.Buckets)
    (0L to 100000L).foldLeft(0) { (last, millis) =>
      val bucket = Durations.bucketOf(millis)
      assert(bucket == last || bucket == last + 1, millis)
      bucket
    }
  }
}
