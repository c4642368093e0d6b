package sparkkinesis.source.fetch

import java.time.Instant
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.Clock
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol._

/** The times of heartbeats, in simulated time. */
class FetchReporterSuite extends AnyFunSuite {
  private val page =
    FetchReport(shardOf(0), 1, Progress.TrimHorizon, Vector.empty, Nil, 0, 0)

  /**
   * Only the reporter's thread runs.
   *
   * @param isBusy whether a page arrives during each heartbeat
   * @param arrivals the times of other pages
   */
  private class Reporting(isBusy: Boolean, lacksRoom: Boolean, arrivals: Long*) extends Clock {
    private var millis = 1000L
    private val left = mutable.Queue(arrivals: _*)
    private val sent = mutable.Buffer.empty[(Long, Int)]
    private val done = new CountDownLatch(1)
    private val reporter: FetchReporter = new FetchReporter(
      "orders",
      heartbeat(_),
      this,
      (unsent, version) =>
        FetchStatus("a", "host", unsent.take(), FetchCounters.Zero, None, version),
      () => lacksRoom,
      _ => (),
      () => end()
    )

    override def now: Instant = Instant.ofEpochMilli(millis)

    override def sleep(duration: FiniteDuration): Unit = millis += duration.toMillis

    override def await(monitor: AnyRef, duration: Long): Unit =
      if (left.headOption.exists(_ <= millis - 1000 + duration)) {
        millis = 1000 + left.dequeue()
        arrive()
      } else millis += duration

    private def arrive(): Unit = reporter.update(_.add(page, 1, isUrgent = true))

    private def heartbeat(status: FetchStatus): FetchReply = {
      sent += ((millis - 1000, status.reports.size))
      if (isBusy) arrive()
      FetchReply(1, isStopped = sent.size == 5, None)
    }

    private def end(): Unit = {
      reporter.stop()
      done.countDown()
    }

    /** The times of the first heartbeats, and the number of reports in each. */
    def heartbeats(): Seq[(Long, Int)] = {
      reporter.start()
      assert(done.await(1, TimeUnit.MINUTES))
      sent.toSeq
    }
  }

  test("a quiet service sends a heartbeat five times per second") {
    val times = new Reporting(isBusy = false, lacksRoom = false).heartbeats().map(_._1)
    assert(times === Seq(0, 200, 400, 600, 800))
  }

  test("a service without room asks more often whether a batch is done") {
    val times = new Reporting(isBusy = false, lacksRoom = true).heartbeats().map(_._1)
    assert(times === Seq(0, 50, 100, 150, 200))
  }

  test("pages that arrive in quick succession share heartbeats") {
    val times = new Reporting(isBusy = true, lacksRoom = false).heartbeats().map(_._1)
    assert(times === Seq(0, 20, 40, 60, 80))
  }

  test("a page that arrives later than that is reported at once") {
    val sent = new Reporting(false, false, 100, 105, 110, 150).heartbeats()
    assert(sent === Seq(0 -> 0, 100 -> 1, 120 -> 2, 150 -> 1, 350 -> 0))
  }
}
