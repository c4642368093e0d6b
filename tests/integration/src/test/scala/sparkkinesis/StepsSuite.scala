package sparkkinesis

import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

class StepsSuite extends AnyFunSuite {
  test("each stored seed is of a suite that exists") {
    val sources = Repository.root.resolve("tests/integration/src/test/scala")
    val files =
      Using.resource(Files.walk(sources))(_.map(_.getFileName.toString).iterator.asScala.toSet)
    assert(StoredSeeds.suites.nonEmpty)
    StoredSeeds.suites.foreach(suite => assert(files(s"$suite.scala"), suite))
  }

  test("the steps of a failed history are halved for as long as it fails") {
    def history(drawn: Int, fatal: Int): Unit =
      require(Steps(drawn) < fatal, "the action that breaks it")
    assert(Steps.shrunk(history(drawn = 150, fatal = 20)) === Some(32))
    assert(Steps.shrunk(history(drawn = 150, fatal = 1)) === Some(1))
    assert(Steps.shrunk(history(drawn = 150, fatal = 140)) === None)
  }
}
