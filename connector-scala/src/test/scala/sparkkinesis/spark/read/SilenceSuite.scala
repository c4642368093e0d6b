package sparkkinesis.spark.read

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

class SilenceSuite extends AnyFunSuite {
  private def after(looks: (Int, Boolean)*): Boolean =
    afterRunning(looks.map { case (second, isSilent) => (second, second, isSilent) }: _*)

  /** @param looks second, seconds in which the driver was running, whether there was no report */
  private def afterRunning(looks: (Int, Int, Boolean)*): Boolean = looks
    .foldLeft(Silence.None) { case (silence, (second, running, isSilent)) =>
      silence.after(isSilent, Silence.Look(second.seconds, running.seconds))
    }
    .isTooLong

  test("silence counts from its beginning, and a report or another job ends it") {
    assert(!after(0 -> true, 29 -> true))
    assert(after(0 -> true, 29 -> true, 31 -> true))
    assert(!after(0 -> true, 29 -> false, 31 -> true, 50 -> true))
    assert(!after(100 -> true))
  }

  test("the second trigger of a long interval ends the silence, and a suspended driver does not") {
    assert(afterRunning((0, 0, true), (60, 1, true)))
    assert(!afterRunning((0, 0, true), (60, 0, true)))
  }
}
