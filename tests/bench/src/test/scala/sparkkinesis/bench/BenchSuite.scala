package sparkkinesis.bench

import java.nio.file.{Files, Paths}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/** The whole bench with hardly any data: that it works, not how fast anything is. */
class BenchSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val results = Files.createTempDirectory("bench").resolve("results.json")
  private var isWell = false
  private lazy val rows: Seq[JsonNode] =
    new ObjectMapper().readTree(results.toFile).elements.asScala.toSeq

  override protected def beforeAll(): Unit =
    isWell = Main.measure(Arguments(isQuick = true, results = results))

  test("every scenario measures something, and nothing fails") {
    assert(rows.map(_.get("name").asText.takeWhile(_ != ':')).distinct === Scenarios.Names)
    rows.foreach(row => assert(row.get("value").isNumber, row))
    assert(isWell)
  }

  test("each row has the same fields, and names tell rows apart") {
    val fields =
      Seq("name", "value", "unit", "baseline", "ratio", "goal", "met", "spread", "note")
    rows.foreach(row => assert(row.fieldNames.asScala.toSeq === fields))
    assert(rows.map(_.get("name").asText).distinct.size === rows.size)
  }

  test("a ratio is there wherever a baseline is, and a verdict wherever a goal is") {
    rows.foreach { row =>
      val isCompared = row.get("baseline").isNumber && row.get("baseline").asDouble > 0
      assert(isCompared === row.get("ratio").isNumber, row)
      assert(row.get("goal").isNull === row.get("met").isNull, row)
      val spread = row.get("spread").elements.asScala.map(_.asDouble).toSeq
      assert(spread.size === 2 && spread === spread.sorted, row)
      assert(Samples(row.get("value").asDouble +: spread).median === row.get("value").asDouble, row)
    }
  }

  test("the goals of docs/benchmarks.md: all are looked at") {
    assert(rows.count(_.get("goal").isTextual) > 10)
  }

  test("the document has its place for the table") {
    val text = Files.readString(Paths.get("docs/benchmarks.md"))
    assert(text.contains(Report.Begin) && text.indexOf(Report.Begin) < text.indexOf(Report.End))
  }
}
