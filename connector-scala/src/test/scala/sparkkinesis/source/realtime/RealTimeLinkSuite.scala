package sparkkinesis.source.realtime

import scala.collection.mutable
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.protocol._
import sparkkinesis.source.realtime.RealTimeShards.Task

class RealTimeLinkSuite extends AnyFunSuite {

  private class Executor {
    val clock = new ScriptedClock
    val shards = new RealTimeShards(clock)
    val task = new Task(1, 0)
    val asked: mutable.Buffer[(Long, Heartbeat)] = mutable.Buffer.empty[(Long, Heartbeat)]
    private var version = 0L
    var reply: () => HeartbeatReply = () => HeartbeatReply(0, isStopped = false, None, 0, Set.empty)
    private val link = new RealTimeLink(shards, ask(_), clock)

    assert(shards.begin(task, Seq(RealTimeStart(shardOf(0), Progress.TrimHorizon, None, None))))
    heartbeat() // brings the plan

    private def ask(status: Heartbeat) = {
      asked += clock.elapsedMillis -> status
      reply()
    }

    def times: Seq[Long] = asked.map(_._1).toSeq

    def heartbeat(change: Heartbeat => Heartbeat = identity): HeartbeatReply = {
      val counters = FetchCounters.Zero.copy(records = 3)
      val status = Heartbeat("7", "host", Vector.empty, counters, None, version, None, "s")
      val reply = link.heartbeat(change(status))
      version = reply.version
      reply
    }

    def heartbeats(count: Int): Unit = (1 to count).foreach { _ =>
      heartbeat()
      clock.pass(20.millis)
    }
  }

  test("a shard that the driver knows as closed is so in the next plan, with its generation") {
    val executor = new Executor
    val before = executor.shards.plan(0)._2.toSeq.flatMap(_.assignments)
    executor.reply = () => HeartbeatReply(0, isStopped = false, None, closed = Set(shardOf(0)))
    assert(executor.heartbeat().plan.isEmpty)
    val plan = executor.heartbeat().plan
    assert(plan.map(_.assignments) === Some(before.map(_.copy(isClosed = true))))
    executor.heartbeat()
    assert(executor.heartbeat().plan.isEmpty)
  }

  private val failure = FetchFailure("KINESIS_ACCESS_DENIED", "No.", shardOf(0), 1)

  private def silent(): HeartbeatReply = throw new RuntimeException("timeout")

  test("the driver is asked five times per second, and told what the service knows") {
    val executor = new Executor
    executor.heartbeats(31)
    assert(executor.times === Seq(0, 200, 400, 600))
    val expected = Heartbeat(
      "7",
      "host",
      Vector.empty,
      FetchCounters.Zero.copy(records = 3),
      None,
      2,
      None,
      "s",
      executor.shards.states
    )
    assert(executor.asked.head._2 === expected)
    assert(expected.shards.keySet === Set(shardOf(0)))
  }

  test("the driver hears at once that a shard has ended, or that something failed, and only once") {
    val executor = new Executor
    executor.heartbeats(2)
    executor.shards.finished(executor.task, shardOf(0), Nil)
    executor.heartbeats(2)
    assert(executor.times === Seq(0, 40))
    assert(executor.asked.last._2.ended === Map(shardOf(0) -> FinishedShard(1, Nil)))
    Seq.fill(2)(executor.heartbeat(_.copy(failure = Some(failure))))
    assert(executor.times === Seq(0, 40, 80))
    Seq.fill(2)(executor.heartbeat(_.copy(failure = Some(failure), crash = Some("OOM"))))
    assert(executor.times === Seq(0, 40, 80, 80))
    assert(executor.asked.last._2.crash === Some("OOM"))
  }

  test("news that the driver did not confirm is in the next status too") {
    val executor = new Executor
    executor.reply = silent _
    executor.shards.finished(executor.task, shardOf(0), Nil)
    executor.heartbeats(2)
    executor.reply = () => HeartbeatReply(0, isStopped = false, None, 0, Set.empty)
    executor.heartbeats(3)
    assert(executor.times === Seq(0, 20, 40))
  }

  test("the service has a plan also if the driver does not answer") {
    val executor = new Executor
    executor.reply = silent _
    executor.heartbeat()
    val reply = executor.heartbeat(_.copy(knownVersion = 0))
    assert(
      !reply.isStopped && reply.plan.map(_.assignments.map(_.shard)) === Some(Vector(shardOf(0)))
    )
    assert(executor.times === Seq(0), "the plan does not wait for the driver")
  }

  test("after a minute without an answer, the query counts as ended") {
    val executor = new Executor
    executor.clock.pass(30.seconds)
    executor.heartbeat()
    executor.reply = silent _
    executor.clock.pass(60.seconds)
    executor.heartbeat()
    executor.clock.pass(200.millis)
    val gone = intercept[QueryGone](executor.heartbeat())
    assert(gone.getMessage === "The driver did not answer for 60 seconds.")
  }

  test("an ended query and an interrupt end the service at once") {
    val executor = new Executor
    executor.reply = () => throw new QueryGone("ended")
    intercept[QueryGone](executor.heartbeat())
    executor.reply = () => throw new InterruptedException
    executor.clock.pass(200.millis)
    intercept[InterruptedException](executor.heartbeat())
  }

  test("the answer stops the service and ends batches") {
    val executor = new Executor
    executor.reply = () => HeartbeatReply(0, isStopped = true, None, 4, Set(shardOf(0)))
    assert(executor.heartbeat().isStopped)
    assert(executor.shards.isEnded(4) && !executor.shards.isEnded(5))
  }

  test("a service that no task has needed for a minute stops, without the driver") {
    val executor = new Executor
    executor.shards.release(executor.task, Map(shardOf(0) -> Progress.TrimHorizon))
    executor.clock.pass(11.seconds)
    val reply = executor.heartbeat()
    assert(!reply.isStopped && reply.plan.map(_.assignments) === Some(Vector.empty))
    executor.clock.pass(50.seconds)
    assert(executor.heartbeat().isStopped && executor.times.isEmpty)
  }
}
