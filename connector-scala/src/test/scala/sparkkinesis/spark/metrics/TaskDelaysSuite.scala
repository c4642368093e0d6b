package sparkkinesis.spark.metrics

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sparkkinesis.Messages

import sparkkinesis.client.Clock
import sparkkinesis.shard.Durations

class TaskDelaysSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** A clock that moves on by a millisecond with each look. */
  private final class LookClock(begin: Long) extends Clock {
    var looks = 0L

    override def now: Instant = {
      looks += 1
      Instant.ofEpochMilli(begin + looks - 1)
    }

    override def sleep(duration: FiniteDuration): Unit = throw new UnsupportedOperationException
  }

  private val pages = Gen.listOf(Gen.listOf(Gen.choose(0L, 100000L)))

  test("the median and the 99th percentile of several tasks are those of all records") {
    forAll(Gen.nonEmptyListOf(pages)) { tasks =>
      val sum = RowDelays.sum(tasks.map { pages =>
        val delays = new TaskDelays(new LookClock(1000000))
        pages.foreach { page =>
          delays.beginPage()
          page.foreach(delay => delays.count(1000000 - delay))
        }
        delays.report
      })
      val exact = tasks.flatten.flatten.sorted
      assert(sum.p50.nonEmpty === exact.nonEmpty)
      // The clock moves on by a millisecond with each look, and there are few.
      val looks = tasks.map(_.map(page => (page.size + 15) / 16).sum).maxOption.getOrElse(0)
      for ((share, told) <- Seq(0.5 -> sum.p50, 0.99 -> sum.p99); millis <- told) {
        val real = exact(math.ceil(exact.size * share).toInt - 1)
        assert(millis >= real && millis <= (real + looks) * 17 / 16, share)
      }
    }
  }

  test("the clock is read at the begin of a page, and after 16 records") {
    val clock = new LookClock(1000)
    val delays = new TaskDelays(clock)
    delays.beginPage()
    (1 to 17).foreach(_ => delays.count(1000))
    assert(clock.looks === 2)
    delays.beginPage()
    delays.count(1000)
    assert(clock.looks === 3)
    assert(RowDelays.sum(Seq(delays.report)) === Durations(Map(0 -> 16, 1 -> 1, 2 -> 1)))
  }

  test("the report of a task is small, and is empty without records") {
    val delays = new TaskDelays(new LookClock(1000000))
    assert(delays.report.isEmpty)
    delays.beginPage()
    // Each of these has a bucket of its own.
    (0 until 60).foreach(delay =>
      delays.count(1000000 - (1L << (delay / 4)) * (16 + delay % 4 * 4))
    )
    assert(delays.report.length === 120)
    val bytes = Messages.encode(delays.report).length
    assert(bytes < 1024)
  }

  test("a record that arrived later than now, by another clock, has no delay") {
    val delays = new TaskDelays(new LookClock(1000))
    delays.count(5000)
    assert(RowDelays.sum(Seq(delays.report)).p99.contains(0L))
  }
}
