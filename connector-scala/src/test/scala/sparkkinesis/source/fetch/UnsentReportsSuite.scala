package sparkkinesis.source.fetch

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol.FetchReport

class UnsentReportsSuite extends AnyFunSuite {
  private def report(number: Int) =
    FetchReport(shardOf(0), number.toLong, Progress.TrimHorizon, Vector.empty, Nil, 0, 0)

  test("after a long pause of the driver, the reports go in several messages, in order") {
    val unsent = new UnsentReports
    (1 to 5000).foreach(number => unsent.add(report(number), 1, isUrgent = false))
    val first = unsent.take()
    assert(first === (1 to 2000).map(report) && unsent.isUrgent)
    unsent.giveBack(first)
    assert(Seq.fill(3)(unsent.take()).flatten === (1 to 5000).map(report))
    assert(!unsent.isUrgent && unsent.take().isEmpty)
  }
}
