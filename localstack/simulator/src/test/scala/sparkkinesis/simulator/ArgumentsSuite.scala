package sparkkinesis.simulator

import org.scalatest.funsuite.AnyFunSuite

final class ArgumentsSuite extends AnyFunSuite {
  private def isTimeSimulated(args: String*) =
    Arguments.parse(args.toList).map(_.isTimeSimulated)

  test("the clock is the system's or a simulated one, and nothing else") {
    assert(isTimeSimulated() === Right(false))
    assert(isTimeSimulated("--clock", "system") === Right(false))
    assert(isTimeSimulated("--clock", "simulated") === Right(true))
    assert(isTimeSimulated("--clock", "sundial").left.exists(_.contains("--clock sundial")))
  }
}
