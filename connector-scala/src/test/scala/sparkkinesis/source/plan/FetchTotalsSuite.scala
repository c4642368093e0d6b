package sparkkinesis.source.plan

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.source.protocol.FetchCounters

class FetchTotalsSuite extends AnyFunSuite {
  private def counted(records: Long, buffered: Long = 0) =
    FetchCounters.Zero.copy(records = records, bufferedBytes = buffered)

  private def sum(heard: (String, FetchCounters)*): Long = heard
    .foldLeft(FetchTotals.Zero) { case (totals, (executor, counters)) =>
      totals.updated(executor, counters)
    }
    .sum
    .records

  test("only the last counters of each executor count") {
    assert(sum("a" -> counted(3), "b" -> counted(10), "a" -> counted(5)) === 15)
  }

  test(
    "the counters of a new service on the same executor are added to those of the previous " +
      "one"
  ) {
    assert(sum("a" -> counted(5), "a" -> counted(0), "a" -> counted(2)) === 7)
  }

  test("a buffer that becomes empty does not count as a new service") {
    assert(sum("a" -> counted(5, buffered = 9), "a" -> counted(5)) === 5)
  }
}
