package sparkkinesis.bench.report

import java.nio.file.Path

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.bench.TemporaryFolder

class ReportSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val folder = new TemporaryFolder
  private val names = Seq("read", "write")

  override protected def afterAll(): Unit = folder.close()

  private def result(name: String, value: Double, goal: Goal*) =
    Result.compared(name, "MB/s", Samples(Seq(value, value + 2)), Samples(Seq(10, 5)), goal: _*)

  private def newFile(): Path = folder.newFolder().resolve("results.json")

  private def said(file: Path) = Report.merge(file, Nil, names).map(_.get("name").asText)

  test("a row has its median, spread, baseline, ratio, goal, and whether the goal is met") {
    val rows = Report.merge(newFile(), Seq(result("read: a", 7, Goal.ratioAtLeast(0.8))), names)
    assert(
      rows.map(_.toString) === Seq(
        """{"name":"read: a","value":8.0,"unit":"MB/s","baseline":7.5,"ratio":1.25,""" +
          """"goal":"≥ 0.8 × baseline","met":true,"spread":[7.0,9.0],""" +
          """"baselineSpread":[5.0,10.0],"ratioSpread":[0.7,1.8],"note":null}"""
      )
    )
  }

  test(
    "rounds are compared one by one, and the ratio is the median of their ratios"
  ) {
    val compared = Result.compared("a: b", "s", Samples(Seq(1, 2, 9)), Samples(Seq(1, 4, 3)))
    assert(compared.ratio.map(_.value).contains(1.0) && compared.value.map(_.value).contains(2.0))
    assert(compared.ratio.flatMap(_.spread).contains((0.5, 3.0)))
    assert(Result.compared("a: b", "s", Samples(Seq(1, 2)), Samples(Seq(0, 4))).ratio.isEmpty)
  }

  test("a single round has no spread, also not in the table") {
    val rows = Report.rows(Seq(Result.compared("a: b", "s", Samples(Seq(1)), Samples(Seq(2)))))
    assert(rows === Seq("| a: b | 1 s |  | 2 | 0.5 |  |  |"))
    assert(
      Report
        .rows(Seq(result("a: b", 7)))
        .head
        .contains("| 7 - 9 | 7.5 (5 - 10) | 1.25 (0.7 - 1.8) |")
    )
  }

  test("a figure that was not measured meets no goal, and gives the reason") {
    val missing = Result.missing("read: a", "ms", "no such tool", Goal.atMost(5))
    val row = Report.merge(newFile(), Seq(missing), names).head
    assert(row.get("value").isNull && row.get("ratio").isNull && row.get("spread").isNull)
    assert(!row.get("met").asBoolean && row.get("note").asText === "no such tool")
    assert(Report.table(Seq(row)).last.startsWith("| read: a | no such tool |"))
  }

  test("a goal is an upper or lower bound of a figure or of its ratio") {
    def figure(rounds: Double*) = Some(Figure.median(Samples(rounds)))
    val met = Seq(Goal.atLeast(1), Goal.atMost(1), Goal.below(1))
    assert(met.map(_.isMet(figure(1), figure(9))) === Seq(Some(true), Some(true), Some(false)))
    assert(Goal.ratioBelow(1).isMet(figure(9), figure(0.5)).contains(true))
    assert(Goal.ratioAtMost(1).isMet(figure(0), None).isEmpty)
    assert(Goal.never.isMet(figure(0, 0, 5), None).contains(false), "the median is 0")
    assert(Goal.never.isMet(figure(0, 0, 0), None).contains(true))
    assert(Goal.atLeastInEach(1).isMet(figure(0, 2, 5), None).contains(false))
  }

  test("rows of a scenario that ran again replace the old ones, and others stay in order") {
    val file = newFile()
    Report.merge(file, Seq(result("write: a", 1), result("read: a", 1)), names)
    assert(said(file) === Seq("read: a", "write: a"))
    Report.merge(file, Seq(result("read: b", 1)), names)
    assert(said(file) === Seq("read: b", "write: a"))
  }

  test("rows of a scenario that no longer exists are removed") {
    val file = newFile()
    Report.merge(file, Seq(result("read: a", 1)), names)
    assert(Report.merge(file, Nil, Seq("write")).isEmpty)
  }
}
