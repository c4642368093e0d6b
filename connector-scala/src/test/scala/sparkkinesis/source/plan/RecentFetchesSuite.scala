package sparkkinesis.source.plan

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.source.protocol.{FetchCounters, FetchTimes}

class RecentFetchesSuite extends AnyFunSuite {

  /** One request per second since the beginning. */
  private def totals(second: Int) = FetchCounters.Zero.copy(
    requests = second.toLong,
    times = FetchTimes(Map(3 -> second.toLong))
  )

  /** What is told at each of these times. */
  private def told(seconds: Int*): Seq[Long] =
    seconds
      .scanLeft(RecentFetches.Empty -> 0L) { case ((recent, _), second) =>
        val next = recent.at(totals(second), second.seconds)
        val found = next.of(totals(second))
        assert(found.times.counts.getOrElse(3, 0L) === found.requests)
        next -> found.requests
      }
      .map(_._2)
      .drop(1)

  test("the first minute is told in whole") {
    assert(told(1, 30, 59, 60, 61, 119) === Seq(1L, 30L, 59L, 60L, 60L, 118L))
  }

  test("later it is one to two minutes, however often it is asked") {
    val each = told(1 to 1000: _*).drop(150)
    assert(each.min >= 60 && each.max <= 121)
  }

  test("if it is asked less often, it is the time since it was asked last") {
    assert(told(600, 1200, 1800, 1810) === Seq(600L, 600L, 600L, 610L))
  }
}
