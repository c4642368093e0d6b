package sparkkinesis.bench

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

class ReportSuite extends AnyFunSuite {
  private val names = Seq("read", "write")

  private def result(name: String, value: Double, goal: Goal*) =
    Result.compared(name, "MB/s", Samples(Seq(value, value + 2)), Samples(Seq(10.0)), goal: _*)

  private def newFile(): Path = Files.createTempDirectory("report").resolve("results.json")

  private def said(file: Path) = Report.merge(file, Nil, names).map(_.get("name").asText)

  test("a row tells its median, spread, baseline, ratio, goal, and whether that is met") {
    val rows = Report.merge(newFile(), Seq(result("read: a", 7, Goal.ratioAtLeast(0.8))), names)
    assert(
      rows.map(_.toString) === Seq(
        """{"name":"read: a","value":8.0,"unit":"MB/s","baseline":10.0,"ratio":0.8,""" +
          """"goal":"≥ 0.8 × baseline","met":true,"spread":[7.0,9.0],"note":null}"""
      )
    )
  }

  test("what was not measured meets no goal, and says why") {
    val missing = Result.missing("read: a", "ms", "no such tool", Goal.atMost(5))
    val row = Report.merge(newFile(), Seq(missing), names).head
    assert(row.get("value").isNull && row.get("ratio").isNull && row.get("spread").isNull)
    assert(!row.get("met").asBoolean && row.get("note").asText === "no such tool")
    assert(Report.table(Seq(row)).contains("| read: a | no such tool |"))
  }

  test("goals: at least, at most, below; of the figure or of its ratio") {
    val met = Seq(Goal.atLeast(1), Goal.atMost(1), Goal.below(1)).map(_.isMet(Some(1), Some(9)))
    assert(met === Seq(Some(true), Some(true), Some(false)))
    assert(Goal.ratioBelow(1).isMet(Some(9), Some(0.5)).contains(true))
    assert(Goal.ratioAtMost(1).isMet(Some(0), None).isEmpty)
  }

  test("rows of a scenario that ran again replace the old ones; others stay, in order") {
    val file = newFile()
    Report.merge(file, Seq(result("write: a", 1), result("read: a", 1)), names)
    assert(said(file) === Seq("read: a", "write: a"))
    Report.merge(file, Seq(result("read: b", 1)), names)
    assert(said(file) === Seq("read: b", "write: a"))
  }

  test("rows of a scenario that is no more go") {
    val file = newFile()
    Report.merge(file, Seq(result("read: a", 1)), names)
    assert(Report.merge(file, Nil, Seq("write")).isEmpty)
  }

  test("a document keeps what is around its table, however often that is written") {
    val rows = Report.merge(newFile(), Seq(result("read: a", 1)), names)
    val document = Files.createTempFile("benchmarks", ".md")
    Files.writeString(document, s"before\n${Report.Begin}\nold\n${Report.End}\nafter\n")
    for (_ <- 1 to 2) Report.writeTable(document, rows)
    val written = s"before\n${Report.Begin}\n${Report.table(rows)}\n${Report.End}\nafter\n"
    assert(Files.readString(document) === written)
  }

  test("a document without a place for the table is left alone") {
    val document = Files.createTempFile("benchmarks", ".md")
    Files.writeString(document, s"${Report.End} ${Report.Begin}")
    assertThrows[IllegalStateException](Report.writeTable(document, Nil))
    assert(Files.readString(document) === s"${Report.End} ${Report.Begin}")
  }
}
