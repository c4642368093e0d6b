package sparkkinesis.bench

import java.nio.file.{Files, Paths}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.bench.report.{Document, Samples}

/** The whole bench with hardly any data: that it works, not how fast anything is. */
class BenchSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val folder = new TemporaryFolder
  private val results = folder.path.resolve("results.json")
  private var isWell = false
  private lazy val rows: Seq[JsonNode] =
    new ObjectMapper().readTree(results.toFile).elements.asScala.toSeq

  override protected def beforeAll(): Unit =
    isWell = Main.measure(Arguments(isQuick = true, results = results))

  override protected def afterAll(): Unit = folder.close()

  test("every scenario has figures, and none fails") {
    assert(rows.map(_.get("name").asText.takeWhile(_ != ':')).distinct === Scenarios.Names)
    rows.foreach(row => assert(row.get("value").isNumber, row))
    assert(isWell)
  }

  test("each row has the same fields and a name of its own") {
    val fields =
      Seq("name", "value", "unit", "baseline", "ratio", "goal", "met") ++
        Seq("spread", "baselineSpread", "ratioSpread", "note")
    rows.foreach(row => assert(row.fieldNames.asScala.toSeq === fields))
    assert(rows.map(_.get("name").asText).distinct.size === rows.size)
  }

  test("a row has a ratio exactly if it has a baseline, and a verdict exactly if it has a goal") {
    rows.foreach { row =>
      val isCompared = row.get("baseline").isNumber && row.get("baseline").asDouble > 0
      assert(isCompared === row.get("ratio").isNumber, row)
      assert(row.get("goal").isNull === row.get("met").isNull, row)
    }
  }

  test("the spread encloses the figure, and a single round has no spread") {
    val withSpread = rows.filterNot(_.get("spread").isNull)
    withSpread.foreach { row =>
      val spread = row.get("spread").elements.asScala.map(_.asDouble).toSeq
      assert(spread.size === 2 && spread === spread.sorted, row)
      assert(Samples(row.get("value").asDouble +: spread).median === row.get("value").asDouble, row)
    }
    // The quick bench has one round of all, but many batches and idle seconds.
    val several = Seq("planning a batch", "writing its offset", "a second without records")
    assert(withSpread.map(_.get("name").asText.split(", ").last) === several)
  }

  test("the bench checks all goals of docs/reference/benchmarks.md") {
    val goals = rows
      .filter(_.get("goal").isTextual)
      .groupMapReduce { row =>
        row.get("name").asText.takeWhile(_ != ':')
      }(_ => 1)(_ + _)
    assert(
      goals === Map(
        "simulator" -> 4, // writes, reads, CPU, heap
        "drain" -> 5, // speed and CPU of two variants, and shards that advance together
        "latency" -> 8, // two percentiles of two rates with two sorts of checkpoints
        "fanout" -> 11, // speed and CPU, heap of many shards, and those of latency
        "realtime" -> 5, // two percentiles of two rates, one from stream to stream
        "cold" -> 1, // the time to the first row
        "idle" -> 3, // two operations, batches
        "sink" -> 2, // speed in steady state, CPU
        "quota" -> 17, // of eleven cases: used; throttled of three, others of one, rows of two
        "exactly_once" -> 1, // speed of a first attempt
        "readquota" -> 6, // use and refusals of one and of two queries, their parts, beside a loop
        "scale" -> 4, // planning, offset, a second without records, heap
        "reshard" -> 1, // whether the backlog lasted
        "interval" -> 5, // two intervals, two of a slow sink, the backlog's batches
        "account" -> 4 // descriptions in three minutes, heap
      )
    )
  }

  test("the document has a place for the table") {
    val text = Files.readString(Paths.get("docs/reference/benchmarks.md"))
    assert(
      text.contains(Document.Begin) && text.indexOf(Document.Begin) < text.indexOf(Document.End)
    )
  }
}
