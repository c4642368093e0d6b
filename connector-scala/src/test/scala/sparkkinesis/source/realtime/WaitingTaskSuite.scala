package sparkkinesis.source.realtime

import java.time.Instant
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.Clock
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol.{FetchReport, Mark}
import sparkkinesis.source.realtime.RealTimeShards.Task

/** What ends the wait of a task's thread. The clock stands still, so no deadline does. */
class WaitingTaskSuite extends AnyFunSuite {

  private class StandingClock extends Clock {
    val isWaiting = new CountDownLatch(1)

    override def now: Instant = Instant.EPOCH

    override def sleep(duration: FiniteDuration): Unit = ()

    override def await(monitor: AnyRef, millis: Long): Unit = {
      isWaiting.countDown() // the lock is free only when the wait has begun
      monitor.wait()
    }
  }

  private val start = RealTimeStart(shardOf(0), Progress.TrimHorizon, None, None)

  /** The result of `next` when `action` happens during its wait. */
  private def woken(action: (RealTimeShards, Thread) => Unit): Try[Option[FetchReport]] = {
    val clock = new StandingClock
    val shards = new RealTimeShards(clock)
    val task = new Task(1, 0)
    shards.begin(task, Seq(start))
    @volatile var result = Option.empty[Try[Option[FetchReport]]]
    val thread = new Thread(() =>
      try result = Some(Success(shards.next(task, 1)))
      catch { case e: Exception => result = Some(Failure(e)) }
    )
    thread.setDaemon(true)
    thread.start()
    assert(clock.isWaiting.await(1, TimeUnit.MINUTES))
    action(shards, thread)
    thread.join(60000)
    result.getOrElse(fail("The task still waits."))
  }

  test("a page wakes its task") {
    val page = FetchReport(shardOf(0), 1, start.from, Vector(Mark(start.from, 1, 1, 0)), Nil, 0, 0)
    assert(woken((shards, _) => shards.report(page)) === Success(Some(page)))
  }

  test("the end of its batch wakes a task") {
    assert(woken((shards, _) => shards.end(1)) === Success(None))
  }

  test("the end of the service wakes a task, and the task fails") {
    val error = intercept[IllegalStateException](woken((shards, _) => shards.close()).get)
    assert(error.getMessage === "Reading on this executor has stopped.")
  }

  test("a task that takes over wakes the old one, which fails") {
    intercept[IllegalStateException](
      woken((shards, _) => shards.begin(new Task(1, 1), Seq(start)): Unit).get
    )
  }

  test("an interrupt ends the wait") {
    intercept[InterruptedException](woken((_, thread) => thread.interrupt()).get)
  }
}
