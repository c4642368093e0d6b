package sparkkinesis.simulator.contract

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Repository

/** Capabilities decide whether a rule runs, never what it asserts. */
final class ContractRulesSuite extends AnyFunSuite {
  private val folder =
    Repository.root.resolve("localstack/simulator/src/test/scala/sparkkinesis/simulator/contract")

  private val contracts = Files
    .list(folder)
    .iterator
    .asScala
    .toVector
    .filter(_.getFileName.toString.endsWith("Contract.scala"))

  test("no rule in this suite depends on a capability") {
    assert(contracts.size >= 10)
    val asking = contracts.filter { file =>
      new String(Files.readAllBytes(file), UTF_8).linesIterator
        .exists(line => line.contains("capabilities."))
    }
    assert(asking == Nil)
  }
}
