package sparkkinesis.client

import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BackoffSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val backoff = Backoff(200.millis, 10.seconds)

  test("the bound doubles with each failure, up to the cap") {
    assert(
      (1 to 8).map(backoff.bound(_).toMillis) === Seq(200, 400, 800, 1600, 3200, 6400, 10000, 10000)
    )
    assert(backoff.bound(Int.MaxValue) === 10.seconds)
  }

  test("a delay lies between one millisecond and the bound, and grows with chance") {
    forAll(Gen.choose(1, 100), Gen.choose(0.0, 0.999999), Gen.choose(0.0, 0.999999)) { (n, a, b) =>
      assert(backoff.delay(n, a) >= 1.milli && backoff.delay(n, a) <= backoff.bound(n))
      assert(a > b || backoff.delay(n, a) <= backoff.delay(n, b))
    }
    assert(backoff.delay(1, 0.0) === 1.milli && backoff.delay(1, 0.5) === 100.millis)
  }

  test("an invalid back-off is refused") {
    assertThrows[IllegalArgumentException](Backoff(Duration.Zero, 1.second))
    assertThrows[IllegalArgumentException](Backoff(2.seconds, 1.second))
    assertThrows[IllegalArgumentException](backoff.bound(0))
  }
}
