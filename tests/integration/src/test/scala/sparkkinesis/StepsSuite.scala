package sparkkinesis

import org.scalatest.funsuite.AnyFunSuite

class StepsSuite extends AnyFunSuite {
  test("the steps of a failed history are halved for as long as it fails") {
    def history(drawn: Int, fatal: Int): Unit =
      require(Steps(drawn) < fatal, "the action that breaks it")
    assert(Steps.shrunk(history(drawn = 150, fatal = 20)) === Some(32))
    assert(Steps.shrunk(history(drawn = 150, fatal = 1)) === Some(1))
    assert(Steps.shrunk(history(drawn = 150, fatal = 140)) === None)
  }
}
