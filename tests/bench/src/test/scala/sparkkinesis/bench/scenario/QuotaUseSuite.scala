package sparkkinesis.bench.scenario

import org.scalatest.funsuite.AnyFunSuite

class QuotaUseSuite extends AnyFunSuite {
  private def evenly(perSecond: Int, seconds: Int): Seq[Long] =
    (0 to perSecond * seconds).map(n => 5000 + n * 1000L / perSecond)

  private def share(millis: Seq[Long], bytes: Int = 1010) =
    QuotaUse.share(millis.map(Arrival(_, bytes)))

  private def close(share: Double, expected: Double) = assert(math.abs(share - expected) < 0.001)

  test("a shard that is kept full after it has spent its burst has a use of 1") {
    close(share(Seq.fill(1000)(5000L) ++ evenly(1000, 6)), 1)
  }

  test("a shard that takes its quota once per second has a use of 1") {
    close(share((5 to 11).flatMap(second => Seq.fill(1000)(second * 1000L + 3))), 1)
  }

  test("half of the rate without the burst has a use of less than a half") {
    close(share(evenly(500, 9)), 0.45)
  }

  test("the number limits small records, and the bytes limit large ones") {
    close(QuotaUse.perSecond(1010), 1000)
    close(QuotaUse.perSecond(1024 * 1024 / 4), 4)
    close(share(evenly(4, 9), 1024 * 1024 / 4), 37.0 / 40)
  }
}
