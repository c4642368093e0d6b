package sparkkinesis.sink.once

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{Moment, SystemClock}
import sparkkinesis.model.ShardId
import sparkkinesis.sink.once.WriterAnswer._
import sparkkinesis.sink.once.WriterAsk._

/** What a task asks the driver, when it asks again, and when it gives up. */
class TaskLoopSuite extends AnyFunSuite {
  private def at(millis: Long, suspended: Long = 0) =
    Moment(Instant.ofEpochMilli(millis + suspended), Instant.ofEpochMilli(millis))

  private val first = Hold(0, 5, isFirst = true)
  private val renewal = Hold(0, 5, isFirst = false)

  private final class Task(patience: FiniteDuration = 5.minutes) {
    private val identity = WriterIdentity("q", 3, "i", 0, 0, 5)
    private val sender = new OnceSender(identity, OnceTerms(), SystemClock)
    val loop = new TaskLoop(sender, 0, 5, patience, at(0))

    def tick(now: Long): Seq[WriterAsk] = loop.tick(at(now))

    def answer(ask: WriterAsk, now: Long, answer: WriterAnswer): Unit =
      loop.answered(ask, at(now), Right(Some(answer)), at(now))

    def lose(ask: WriterAsk, now: Long): Unit =
      loop.answered(ask, at(now), Left(new Exception("lost")), at(now))

    def begin(): Unit = {
      tick(0)
      answer(first, 0, Held(15000, Array(7)))
    }

    def failure: Option[OnceException] = loop.failure.collect { case e: OnceException => e }
  }

  test("a question is asked again if its answer is missing or not final, and not twice at once") {
    val it = new Task
    assert(it.tick(0) === Seq(first) && it.tick(5000) === Nil)
    it.answer(first, 5000, NotYet)
    assert(it.tick(5199) === Nil && it.tick(5200) === Seq(first))
    it.lose(first, 15200)
    assert(it.tick(15400) === Seq(first) && it.loop.rowsInRun === None)
    it.answer(first, 15500, Held(1, Array(7)))
    assert(it.loop.rowsInRun.map(_.toSeq) === Some(Seq(7)))
  }

  test("a right is renewed five times per lease") {
    val it = new Task
    it.begin()
    assert(it.tick(200) === Seq(renewal))
    it.answer(renewal, 200, Held(15000, Array.emptyByteArray))
    assert(it.tick(3199) === Nil && it.tick(3200) === Seq(renewal))
    assert(it.loop.rowsInRun.map(_.toSeq) === Some(Seq(7)), "a renewal has no rows")
  }

  test("a task waits as long as the driver answers, and gives up when it is silent") {
    val it = new Task(patience = 1.minute)
    (0L to 3600000L by 1000).foreach { now =>
      assert(it.tick(now) === Seq(first), now)
      it.answer(first, now, NotYet)
    }
    (3601000L to 3660000L by 1000).foreach { now =>
      assert(it.tick(now) === Seq(first), now)
      it.lose(first, now)
    }
    assert(it.failure === None)
    assert(it.tick(3660001) === Nil)
    assert(it.failure.map(_.condition) === Some(OnceException.Fenced))
    assert(it.failure.exists(e => e.getMessage.contains("lost") && e.getCause != null))
  }

  test("a refusal, and a driver that has gone, end the task") {
    val refused = new Task
    refused.tick(0)
    refused.answer(first, 0, Refused("KINESIS_X", "a test"))
    assert(refused.failure.map(_.condition) === Some("KINESIS_X") && refused.tick(9000) === Nil)
    val gone = new Task
    gone.loop.answered(first, at(0), Right(None), at(0))
    assert(gone.failure.map(_.condition) === Some(OnceException.Fenced))
  }

  test("a question about shards has an answer of its own, and an older one is none") {
    val it = new Task
    it.begin()
    def ask(now: Long) = {
      it.loop.recover(Seq(ShardInDoubt(ShardId("a"), 60000, None)), at(now))
      it.tick(now).collectFirst { case recover: Recover => recover }.get
    }
    val one = ask(60000)
    it.answer(one, 60000, NotYet)
    val again = it.tick(60200).collect { case Recover(_, _, number, shards) =>
      number -> shards.map(_.ageMillis)
    }
    assert(again === Seq(one.number -> Seq(60200)) && it.loop.recovered === None)
    it.answer(one, 60300, Recovered(Hash128.encode(Seq(Hash128(1, 2)))))
    assert(it.loop.recovered === Some(Set(Hash128(1, 2))))
    val two = ask(70000)
    it.answer(one, 70000, Recovered(Hash128.encode(Seq(Hash128(1, 2)))))
    assert(two.number === one.number + 1 && it.loop.recovered === None)
  }

  test("a question about shards whose answer is lost gets a new number: it may arrive late") {
    val it = new Task
    it.begin()
    it.loop.recover(Seq(ShardInDoubt(ShardId("a"), 60000, None)), at(60000))
    def asked(now: Long) = it.tick(now).collectFirst { case recover: Recover => recover }.get
    val lost = asked(60000)
    it.lose(lost, 70000)
    val next = asked(70200)
    assert(next.number === lost.number + 1 && next.shards.map(_.ageMillis) === Seq(70200))
    it.answer(lost, 70300, Recovered(Array.emptyByteArray))
    assert(it.loop.recovered === None)
    it.answer(next, 70400, Recovered(Array.emptyByteArray))
    assert(it.loop.recovered === Some(Set.empty))
  }

  test("a time for which the machine was suspended makes a doubt older") {
    val it = new Task
    it.loop.recover(Seq(ShardInDoubt(ShardId("a"), 60000, None)), at(60000))
    val asked = it.loop.tick(at(60000, suspended = 5000)).collect { case Recover(_, _, _, shards) =>
      shards.map(_.ageMillis)
    }
    assert(asked === Seq(Seq(65000)))
  }

  test("a task that has finished renews nothing, and tells it until the driver knows") {
    val it = new Task
    it.begin()
    it.loop.finish(skipped = 2, RowTotal(3, 4), at(1000))
    val finish = Finish(0, 5, 2, RowTotal(3, 4))
    assert(it.tick(1000) === Seq(finish))
    it.lose(finish, 1000)
    assert(it.tick(1200) === Seq(finish) && !it.loop.isFinished)
    it.answer(finish, 1200, Finished)
    assert(it.loop.isFinished && it.tick(9000) === Nil)
    assert(it.tick(3600000) === Nil && it.loop.failure === None, "it waits for no answer")
  }
}
