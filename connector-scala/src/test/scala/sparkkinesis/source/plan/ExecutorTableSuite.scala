package sparkkinesis.source.plan

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.shard.Durations
import sparkkinesis.source.protocol._

class ExecutorTableSuite extends AnyFunSuite {
  private val (one, other) = (shardOf(0), shardOf(1))

  private def newTable = new ExecutorTable(10.seconds)

  private def pass(table: ExecutorTable, seconds: Int): Unit =
    (1 to 2 * seconds).foreach(_ => table.tick())

  private def counted(records: Long, buffered: Long = 0) =
    FetchCounters.Zero.copy(records = records, bufferedBytes = buffered)

  private def hear(table: ExecutorTable, executor: String, counters: FetchCounters) =
    table.heard(Heartbeat(executor, "host", Vector.empty, counters, None, 1))

  private def sum(heard: (String, FetchCounters)*): Long = {
    val table = newTable
    heard.foreach { case (executor, counters) => hear(table, executor, counters) }
    table.counters.records
  }

  test("only the last counters of each executor count") {
    assert(sum("a" -> counted(3), "b" -> counted(10), "a" -> counted(5)) === 15)
  }

  test("a new service of an executor counts from zero, and what the last one counted stays") {
    assert(sum("a" -> counted(5), "a" -> counted(0), "a" -> counted(2)) === 7)
  }

  test("a buffer that becomes empty does not count as a new service") {
    assert(sum("a" -> counted(5, buffered = 9), "a" -> counted(5)) === 5)
  }

  test("a service that was replaced stays replaced, also after its executor was silent") {
    val table = newTable
    def heard(service: String) =
      table.heard(Heartbeat("a", "h", Vector.empty, counted(0), None, 1, None, service))
    assert(heard("old"))
    pass(table, 11)
    assert(table.live.isEmpty && heard("new") && !heard("old") && heard("new"))
  }

  test("of an executor whose services end again and again only the last ones are known") {
    val table = newTable
    def heard(service: Int) = table.heard(
      Heartbeat("a", "h", Vector.empty, counted(0), None, 1, None, s"$service")
    )
    assert((1 to 10000).forall(heard))
    assert(!heard(9999) && !heard(9900), "one that may still send something")
  }

  test("executors that are gone for an hour are forgotten, and what they counted stays") {
    val table = newTable
    (1 to 100).foreach { number =>
      hear(table, s"e$number", counted(1))
      pass(table, 60)
    }
    assert(table.size <= 61 && table.counters.records === 100)
  }

  /** The requests that are recent at each of these seconds, if there is one per second. */
  private def recent(seconds: Int*): Seq[Long] = {
    val table = newTable
    (0 +: seconds).zip(seconds).map { case (before, now) =>
      pass(table, now - before)
      val times = Durations(Map(3 -> now.toLong))
      hear(table, "a", FetchCounters.Zero.copy(requests = now.toLong, times = times))
      val found = table.recentCounters
      assert(found.times.counts.getOrElse(3, 0L) === found.requests)
      found.requests
    }
  }

  test("in the first minute, all counts are recent") {
    assert(recent(1, 30, 59) === Seq(1L, 30L, 59L))
  }

  test("later the counts of one to two minutes are recent, however often it is asked") {
    val each = recent(1 to 1000: _*).drop(150)
    assert(each.min >= 60 && each.max <= 121)
  }

  test("if it is asked less often, the counts since the last time are recent") {
    assert(recent(600, 1200, 1800, 1810) === Seq(600L, 600L, 600L, 610L))
  }

  test("the shard that was silent for longest counts, since its last page") {
    val table = newTable
    table.heardOf(one)
    pass(table, 10)
    table.heardOf(other)
    pass(table, 5)
    assert(table.silences(Set(one, other)).values.max === 15.seconds)
    table.heardOf(one)
    assert(table.silences(Set(one, other)).values.max === 5.seconds)
  }

  test("a shard without a page counts since it was first asked for, and a gone one not at all") {
    val table = newTable
    assert(table.silences(Set(one)) === Map(one -> Duration.Zero))
    pass(table, 30)
    assert(table.silences(Set(one)) === Map(one -> 30.seconds))
    assert(table.silences(Set(other)) === Map(other -> Duration.Zero))
    assert(table.silences(Set.empty).isEmpty)
  }
}
