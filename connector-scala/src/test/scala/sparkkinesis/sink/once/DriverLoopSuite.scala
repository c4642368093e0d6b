package sparkkinesis.sink.once

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.Moment
import sparkkinesis.model.{SequenceNumber, ShardId}
import sparkkinesis.sink.once.DriverLoop._
import sparkkinesis.sink.once.WriterAnswer._
import sparkkinesis.sink.once.WriterAsk._

/** Who may write when, when the log is checked, and when the stream is read. */
class DriverLoopSuite extends AnyFunSuite {
  private val terms = OnceTerms()
  private val lease = terms.lease.toMillis
  private val silence = terms.silence.toMillis
  private val margin = terms.margin.toMillis
  private val writer = WriterIdentity("q", 3, "i", 0, 0, 0)
  private val noon = Instant.parse("2026-11-22T12:00:00Z")

  private def at(millis: Long) =
    Moment(noon.plusSeconds(99).plusMillis(millis), Instant.ofEpochMilli(millis))

  /** Times are in milliseconds since the run began. */
  private final class Run(run: Long = 0, logged: Long = 0) {
    val loop = new DriverLoop(writer.copy(run = run), noon, at(0), noon, at(logged), terms)

    def ask(question: WriterAsk, now: Long): WriterAnswer = loop.asked(question, at(now))

    def tick(now: Long): Vector[Command] = loop.tick(at(now))

    /** The passes that begin now. */
    def passes(now: Long): Vector[Pass] = tick(now).collect { case Command.Read(it) => it }

    def takeOver(now: Long): Option[Map[Int, Long]] =
      passes(now).collectFirst { case it: TakeOver => it.holders }

    def read(pass: Pass, aggregates: Seq[FoundAggregate]): Unit =
      loop.read(new Found(pass, aggregates))

    def newest(asked: Long): Unit = loop.checked(Right(true), at(asked), at(asked))
  }

  private def hold(task: Long, partition: Int = 0) = Hold(partition, task, isFirst = true)

  private def recover(number: Long, ages: Long*) =
    Recover(0, 5, number, ages.map(ShardInDoubt(ShardId("a"), _, None)))

  private def aggregate(task: Long, number: Long, run: Long = 0, partition: Int = 0) =
    FoundAggregate(
      writer.copy(run = run, partition = partition, task = task),
      Hash128(0, number),
      Hash128.encode(Seq(Hash128(1, number)))
    )

  private def rows(answer: WriterAnswer) = answer match {
    case Held(_, bytes) => Hash128.decode(bytes).map(_.lo).toSeq
    case other => fail(s"not held: $other")
  }

  private def millis(answer: WriterAnswer) = answer match {
    case Held(left, _) => left
    case _ => 0L
  }

  test("a first attempt may send at once, and nothing is read") {
    val it = new Run
    assert(it.loop.earlierRows.exists(_.isEmpty))
    assert(rows(it.ask(hold(task = 5), 100)) === Nil)
    assert(it.tick(100) === Nil)
  }

  test("the right to send ends a lease after the run was known to be the newest") {
    val it = new Run
    assert(millis(it.ask(hold(5), 100)) === lease - 100)
    assert(millis(it.ask(hold(5), lease)) === 0)
    it.newest(asked = 10000)
    assert(millis(it.ask(hold(5), lease)) === 10000)
  }

  test("the log is checked again three seconds after a check has ended, and one check at a time") {
    val it = new Run
    def isDue(now: Long) = it.tick(now).contains(Command.CheckLog)
    assert(!isDue(2999) && isDue(3000) && !isDue(60000))
    it.loop.checked(Left(new Exception("no network")), at(3000), at(60000))
    assert(!isDue(62999) && isDue(63000))
    it.loop.checked(Right(false), at(63000), at(63100))
    assert(it.loop.failure.map(_.condition) === Some(OnceException.Fenced))
    assert(it.tick(70000) === Nil)
  }

  test("a log that is out of reach for five minutes ends the run, and the error has the cause") {
    val it = new Run
    val cause = new Exception("no network")
    it.loop.checked(Left(cause), at(299000), at(300000))
    assert(it.loop.failure === None)
    it.loop.checked(Left(cause), at(303000), at(304000))
    assert(it.loop.failure.map(_.getCause) === Some(cause))
  }

  test("a look into the log that never ends is one that is out of reach") {
    val run = new Run
    val looks = run.tick(terms.lease.toMillis)
    assert(looks.contains(Command.CheckLog))
    val end = terms.patience.toMillis + 1
    assert(run.tick(end).isEmpty && run.loop.failure.exists(_.condition == OnceException.LogFailed))
  }

  test("what earlier runs wrote is read after their last request, however long logging took") {
    val run = new Run(run = 1, logged = 40000)
    assert(run.passes(silence + 39999).isEmpty)
    assert(run.passes(silence + 40000).nonEmpty)
  }

  test("a later run reads what earlier ones wrote, after their last request has had its effect") {
    val it = new Run(run = 2)
    assert(it.passes(silence - 1) === Nil && it.loop.earlierRows === None)
    val pass = it.passes(silence).head
    assert(pass.from === noon.minusMillis(margin))
    assert(
      Seq(0L, 1L, 2L).map(run => pass.needs(aggregate(5, 1, run).writer)) ===
        Seq(true, true, false)
    )
    assert(it.passes(silence + 100) === Nil, "one pass at a time")
    it.read(pass, Seq(aggregate(5, 1), aggregate(6, 2, run = 1)))
    assert(it.loop.earlierRows.map(_.length) === Some(2 * Hash128.Bytes))
    assert(it.passes(silence + 200) === Nil)
  }

  test("a later attempt waits for the lease and the last request, and gets what is there") {
    val it = new Run
    it.ask(hold(5), 0)
    assert(it.ask(hold(6), 1000) === NotYet)
    it.ask(hold(6), silence - 1)
    assert(it.passes(silence - 1) === Nil)
    val pass = it.passes(silence).head
    assert(pass.needs(aggregate(5, 1).writer) && !pass.needs(aggregate(5, 1, partition = 1).writer))
    assert(pass.shards === None)
    it.read(pass, Seq(aggregate(5, 1), aggregate(5, 2)))
    it.newest(silence)
    assert(rows(it.ask(hold(6), silence)) === Seq(1, 2))
  }

  test("the attempt before is refused as soon as a later one has asked") {
    val it = new Run
    it.ask(hold(5), 0)
    it.ask(hold(6), 1000)
    Seq(hold(5), recover(1), Finish(0, 5, 0, RowTotal.Zero)).foreach { question =>
      assert(it.ask(question, 2000).asInstanceOf[Refused].condition === OnceException.Fenced)
    }
  }

  test("a third attempt takes the place of one that waits") {
    val it = new Run
    it.ask(hold(5), 0)
    it.ask(hold(6), 1000)
    it.ask(hold(7), 2000)
    assert(it.ask(hold(6), 3000).isInstanceOf[Refused])
    it.ask(hold(7), silence)
    assert(it.takeOver(silence) === Some(Map(0 -> 5L)))
  }

  test("a pass serves the attempt that took over, also if it was replaced meanwhile") {
    val it = new Run
    it.ask(hold(5), 0)
    it.ask(hold(6), silence)
    val pass = it.passes(silence).head
    it.ask(hold(7), silence)
    it.read(pass, Seq(aggregate(5, 1)))
    it.newest(silence)
    assert(rows(it.ask(hold(7), silence)) === Seq(1))
    assert(it.passes(silence + 1000) === Nil, "nothing is left to be read")
  }

  test("a pass does not serve an attempt that waits for another one than it was for") {
    val it = new Run
    it.ask(hold(5), 0)
    it.ask(hold(6), silence)
    val pass = it.passes(silence).head
    it.read(pass, Nil)
    it.newest(silence)
    it.ask(hold(6), silence)
    it.ask(hold(7), silence + 1000)
    it.read(pass, Nil) // once more, too late
    assert(it.ask(hold(7), silence + 2000) === NotYet)
  }

  test("a question about requests is answered by a look that began after it") {
    val it = new Run
    it.ask(hold(5), 0)
    assert(it.ask(recover(1, 60000), 10) === NotYet)
    val first = it.passes(10).head
    assert(it.ask(recover(2, 60000), 20) === NotYet)
    assert(it.passes(20) === Nil, "one look at a time")
    it.read(first, Seq(aggregate(5, 1)))
    assert(it.ask(recover(2, 60000), 30) === NotYet)
    it.read(it.passes(30).head, Seq(aggregate(5, 1), aggregate(4, 2)))
    it.ask(recover(2, 60000), 40) match {
      case Recovered(digests) => assert(Hash128.decode(digests).map(_.lo).toSeq === Seq(1))
      case other => fail(s"$other")
    }
    assert(it.passes(50) === Nil)
    assert(it.ask(recover(1, 60000), 60) === NotYet, "it was on the way for long")
    assert(it.passes(70) === Nil)
  }

  test("a look for requests begins a margin before them, and only in their shards") {
    val it = new Run
    it.ask(hold(5), 0)
    val (known, time) = (SequenceNumber("17"), 30 * 60000L)
    def doubt(shard: String, age: Long, after: Option[String]) =
      ShardInDoubt(ShardId(shard), age, after.map(SequenceNumber(_)))
    it.ask(Recover(0, 5, 1, Seq(doubt("a", 60000, Some("17")), doubt("b", 61000, None))), time)
    it.ask(hold(8, partition = 1), 0)
    it.ask(Recover(1, 8, 1, Seq(doubt("a", 60000, Some("18")))), time)
    val pass = it.passes(time).head
    assert(pass.from === noon.plusMillis(time - 61000 - margin))
    assert(pass.shards === Some(Map(ShardId("a") -> Some(known), ShardId("b") -> None)))
    assert(pass.needs(aggregate(5, 1).writer) && !pass.needs(aggregate(4, 1).writer))
  }

  test("a look for requests does not wait for one that takes long for a later attempt") {
    val it = new Run
    it.ask(hold(5), 0)
    it.ask(hold(6, partition = 1), 0)
    it.ask(hold(7, partition = 1), silence)
    assert(it.takeOver(silence).nonEmpty)
    it.ask(recover(1, 60000), silence + 1000)
    assert(it.passes(silence + 1000).map(_.getClass) === Seq(classOf[Recovery]))
  }

  test("no attempt writes after the run has ended") {
    val it = new Run
    it.ask(hold(5), 0)
    it.loop.end(OnceException.fenced("a test"))
    assert(it.ask(hold(5), 1).isInstanceOf[Refused])
    assert(intercept[OnceException](it.loop.checkEnd()).condition === OnceException.Fenced)
  }

  /** A second run, after a first that wrote so many rows. */
  private def second(earlier: Int) = {
    val it = new Run(run = 1)
    it.read(it.passes(silence).head, (1 to earlier).map(aggregate(5, _)))
    it.newest(silence)
    it
  }

  test("a batch must contain every row that earlier runs wrote, and no other ones count") {
    Seq(5 -> None, 6 -> Some("1 rows that"), 4 -> Some("took 1 more")).foreach {
      case (earlier, text) =>
        val it = second(earlier)
        it.ask(hold(5), silence)
        it.ask(hold(6, partition = 1), silence)
        it.ask(Finish(0, 5, skipped = 2, RowTotal(4, 10)), silence)
        it.ask(Finish(1, 6, skipped = 3, RowTotal(5, -3)), silence)
        assert(it.loop.total === RowTotal(9, 7))
        text match {
          case None => it.loop.checkEnd()
          case Some(part) =>
            val e = intercept[OnceException](it.loop.checkEnd())
            assert(e.condition === OnceException.NotDeterministic && e.getMessage.contains(part))
        }
    }
  }

  test("nothing is read for an attempt that asks no more, until it asks again") {
    val it = new Run
    it.ask(hold(5), 0)
    it.ask(hold(6), 1000)
    assert(it.takeOver(silence) === None)
    it.ask(hold(6), silence)
    assert(it.takeOver(silence + 30001) === None)
    it.ask(hold(6), silence + 40000)
    assert(it.takeOver(silence + 70000) === Some(Map(0 -> 5L)))
  }

  test("one pass serves the attempts that become due within seconds of each other") {
    val it = new Run
    it.ask(hold(5), 0)
    it.newest(asked = 4000)
    it.ask(hold(6, partition = 1), 4000)
    Seq(hold(7), hold(8, partition = 1)).foreach(it.ask(_, 50000))
    assert(it.takeOver(silence) === None, "the other is due in 4 s")
    assert(it.takeOver(silence + 4000) === Some(Map(0 -> 5L, 1 -> 6L)))
  }

  test("a pass waits for others that are due soon, but not for long") {
    val it = new Run
    (0 to 4).foreach { partition =>
      it.newest(asked = partition * 3000L)
      it.ask(hold(5, partition), partition * 3000L)
    }
    (0 to 4).foreach(partition => it.ask(hold(6, partition), 60000))
    assert((0 to 4).flatMap(seconds => it.takeOver(silence + seconds * 1000)) === Nil)
    assert(it.takeOver(silence + 5000).map(_.keySet) === Some(Set(0, 1)))
  }

  test("a pass does not wait for an attempt that asks no more") {
    val it = new Run
    it.ask(hold(5), 0)
    it.newest(asked = 20000)
    it.ask(hold(5, partition = 1), 20000)
    it.ask(hold(6, partition = 1), 30000)
    it.ask(hold(6), 60000)
    assert(it.takeOver(silence) === Some(Map(0 -> 5L)), "the other asked 45 s ago")
  }

  test("a pass for a later attempt begins where the first attempt of its partitions began") {
    val it = new Run
    Seq(0, 1, 2).foreach(partition => it.ask(hold(5, partition), 1000L * partition))
    it.ask(hold(6, partition = 1), silence)
    assert(it.passes(silence + 1000).map(_.from) === Seq(noon.plusMillis(1000 - margin)))
  }

  test("what a finished attempt skipped counts, also if its successor never finishes") {
    val it = second(earlier = 2)
    it.ask(hold(5), silence)
    it.ask(Finish(0, 5, skipped = 2, RowTotal(4, 10)), silence)
    it.ask(hold(6), 3 * silence)
    it.read(it.passes(3 * silence).head, Nil)
    it.loop.checkEnd()
    it.ask(Finish(0, 6, skipped = 1, RowTotal(3, 8)), 3 * silence)
    intercept[OnceException](it.loop.checkEnd())
    assert(it.loop.total === RowTotal(3, 8))
  }

  test("time for which the driver's clock stood still shortens a right") {
    val it = new Run
    def right(lost: Long) = {
      val later = at(1000)
      millis(it.loop.asked(hold(5), later.copy(now = later.now.plusMillis(lost))))
    }
    assert(right(lost = 4000) === lease - 5000)
    assert(right(lost = lease) === 0)
  }

  test("the cause that ended a run reaches the query") {
    val (it, cause) = (new Run, new OutOfMemoryError("a test"))
    it.loop.end(OnceException.failed("read", cause))
    assert(intercept[OnceException](it.loop.checkEnd()).getCause === cause)
  }
}
