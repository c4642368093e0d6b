package sparkkinesis.bench

import org.scalatest.funsuite.AnyFunSuite

class QuotaUseSuite extends AnyFunSuite {
  private def evenly(perSecond: Int, seconds: Int, from: Long): Seq[Long] =
    (0 until perSecond * seconds).map(n => from + n * 1000L / perSecond)

  test("a shard kept full is used whole, whatever it had saved up before") {
    val saved = Seq.fill(1000)(5000L)
    assert(QuotaUse.share(saved ++ evenly(1000, 6, from = 5000)) === 1.0)
  }

  test("a shard that takes what it may once a second is used whole") {
    val bursts = (5 to 11).flatMap(second => Seq.fill(1000)(second * 1000L + 3))
    assert(QuotaUse.share(bursts) === 1.0)
  }

  test("half the rate is half of it") {
    assert(QuotaUse.share(evenly(500, 8, from = 100)) === 0.5)
  }

  test("too short a time tells nothing") {
    assertThrows[IllegalStateException](QuotaUse.share(evenly(1000, 1, from = 0)))
  }
}
