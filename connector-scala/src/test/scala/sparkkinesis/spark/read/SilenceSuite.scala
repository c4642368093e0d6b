package sparkkinesis.spark.read

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

class SilenceSuite extends AnyFunSuite {
  private def after(looks: (Int, Boolean)*): Boolean = looks
    .foldLeft(Silence.None) { case (silence, (second, isSilent)) =>
      silence.after(isSilent, second.seconds)
    }
    .isTooLong

  test("silence counts from its beginning, and a report or another job ends it") {
    assert(!after(0 -> true, 29 -> true))
    assert(after(0 -> true, 29 -> true, 31 -> true))
    assert(!after(0 -> true, 29 -> false, 31 -> true, 50 -> true))
    assert(!after(100 -> true))
  }
}
