package sparkkinesis.sink.once

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.once.WriterAnswer._
import sparkkinesis.sink.once.WriterAsk._

/** Who may write when, and when the stream is read. */
class WriteSessionSuite extends AnyFunSuite {
  private val terms = OnceTerms(15.seconds, 60.seconds, 2.minutes)
  private val lease = 15000L
  private val silence = 75000L

  private def session(run: Long = 0) = new WriteSession(run, terms, start = 0)

  private def hold(task: Long, partition: Int = 0) = Hold(partition, task, isFirst = true)

  private def aggregate(task: Long, number: Long, run: Long = 0, partition: Int = 0) =
    FoundAggregate(
      WriterIdentity("q", 3, "i", run, partition, task),
      Hash128(0, number),
      Hash128.encode(Seq(Hash128(1, number)))
    )

  private def rows(answer: WriterAnswer) = answer match {
    case Held(_, bytes) => Hash128.decode(bytes).map(_.lo).toSeq
    case other => fail(s"not held: $other")
  }

  test("a first attempt may send at once, and nothing is read") {
    val it = session()
    assert(rows(it.answer(hold(task = 5), now = 100)) === Nil)
    assert(it.due(100) === None)
  }

  test("the right to send ends a lease after the run was known to be the newest") {
    val it = session()
    def millis(now: Long) = it.answer(hold(5), now) match {
      case Held(left, _) => left
      case _ => 0L
    }
    assert(millis(100) === lease - 100)
    assert(millis(lease) === 0)
    it.newest(at = 10000)
    assert(millis(lease) === 10000)
  }

  test("a later attempt waits for the lease and the last request, and gets what is there") {
    val it = session()
    it.answer(hold(5), 0)
    assert(it.answer(hold(6), 1000) === NotYet)
    it.answer(hold(6), silence - 1)
    assert(it.due(silence - 1) === None)
    val pass = it.due(silence).get
    assert(pass.needs(aggregate(5, 1).writer) && !pass.needs(aggregate(5, 1, partition = 1).writer))
    it.found(pass, Seq(aggregate(5, 1), aggregate(5, 2), aggregate(5, 3, partition = 1)))
    it.newest(silence)
    assert(rows(it.answer(hold(6), silence)) === Seq(1, 2))
  }

  test("the attempt before is refused as soon as a later one has asked") {
    val it = session()
    it.answer(hold(5), 0)
    it.answer(hold(6), 1000)
    Seq(hold(5), Recover(0, 5, 1), Finish(0, 5, 0, RowTotal.Zero)).foreach { question =>
      assert(it.answer(question, 2000).asInstanceOf[Refused].condition === OnceException.Fenced)
    }
  }

  test("a third attempt takes the place of one that waits") {
    val it = session()
    it.answer(hold(5), 0)
    it.answer(hold(6), 1000)
    it.answer(hold(7), 2000)
    assert(it.answer(hold(6), 3000).isInstanceOf[Refused])
    it.answer(hold(7), silence)
    val pass = it.due(silence).get
    assert(pass.successors === Map(0 -> 7L))
  }

  test("a pass for an attempt that was replaced meanwhile counts for nobody") {
    val it = session()
    it.answer(hold(5), 0)
    it.answer(hold(6), 1000)
    it.answer(hold(6), silence)
    val pass = it.due(silence).get
    it.answer(hold(7), silence)
    it.found(pass, Seq(aggregate(5, 1)))
    it.newest(silence)
    assert(it.answer(hold(7), silence) === NotYet)
    it.found(it.due(silence).get, Seq(aggregate(5, 1)))
    assert(rows(it.answer(hold(7), silence)) === Seq(1))
  }

  test("a question about requests is answered by a look that began after it") {
    val it = session()
    it.answer(hold(5), 0)
    assert(it.answer(Recover(0, 5, 1), 10) === NotYet)
    val first = it.due(10).get
    assert(it.answer(Recover(0, 5, 2), 20) === NotYet)
    it.found(first, Seq(aggregate(5, 1)))
    assert(it.answer(Recover(0, 5, 2), 30) === NotYet)
    it.found(it.due(30).get, Seq(aggregate(5, 1), aggregate(4, 2)))
    it.answer(Recover(0, 5, 2), 40) match {
      case Recovered(digests) => assert(Hash128.decode(digests).map(_.lo).toSeq === Seq(1))
      case other => fail(s"$other")
    }
    assert(it.due(50) === None)
  }

  test("no attempt writes after the session has ended") {
    val it = session()
    it.answer(hold(5), 0)
    it.end(OnceException.fenced("a test"))
    assert(it.answer(hold(5), 1).isInstanceOf[Refused])
    assert(intercept[OnceException](it.checkEnd(0)).condition === OnceException.Fenced)
  }

  test("a batch must contain every row that earlier runs wrote") {
    val it = session(run = 1)
    it.answer(hold(5), 0)
    it.answer(hold(6, partition = 1), 0)
    it.answer(Finish(0, 5, skipped = 2, RowTotal(4, 10)), 1)
    it.answer(Finish(1, 6, skipped = 3, RowTotal(5, -3)), 1)
    it.checkEnd(earlier = 5)
    assert(it.total === RowTotal(9, 7))
    assert(intercept[OnceException](it.checkEnd(6)).condition === OnceException.NotDeterministic)
  }

  test("nothing is read for an attempt that asks no more, until it asks again") {
    val it = session()
    it.answer(hold(5), 0)
    it.answer(hold(6), 1000)
    assert(it.due(silence) === None)
    it.answer(hold(6), silence)
    assert(it.due(silence + 30000).map(_.successors) === Some(Map(0 -> 6L)))
    assert(it.due(silence + 30001) === None)
  }

  test("one pass serves the attempts that become due within seconds of each other") {
    val it = session()
    it.answer(hold(5), 0)
    it.newest(at = 4000)
    it.answer(hold(6, partition = 1), 4000)
    Seq(hold(7), hold(8, partition = 1)).foreach(it.answer(_, 50000))
    assert(it.due(silence) === None, "the other is due in 4 s")
    assert(it.due(silence + 4000).map(_.successors) === Some(Map(0 -> 7L, 1 -> 8L)))
  }

  test("a pass waits for others that are due soon, but not for long") {
    val it = session()
    (0 to 4).foreach { partition =>
      it.newest(at = partition * 3000L)
      it.answer(hold(5, partition), partition * 3000L)
    }
    (0 to 4).foreach(partition => it.answer(hold(6, partition), 60000))
    assert((0 to 4).map(seconds => it.due(silence + seconds * 1000)).flatten === Nil)
    assert(it.due(silence + 5000).map(_.successors.keySet) === Some(Set(0, 1)))
  }

  test("a pass begins where the first attempt of its partitions began") {
    val it = session()
    Seq(0, 1, 2).foreach(partition => it.answer(hold(5, partition), 1000L * partition))
    it.answer(Recover(2, 5, 1), 3000)
    assert(it.due(3000).map(_.since) === Some(2000))
    it.answer(hold(6, partition = 1), 4000)
    it.answer(hold(6, partition = 1), silence)
    assert(it.due(silence + 1000).map(_.since) === Some(1000))
  }

  test("what a finished attempt skipped counts, also if its successor never finishes") {
    val it = session(run = 1)
    it.answer(hold(5), 0)
    it.answer(Finish(0, 5, skipped = 2, RowTotal(4, 10)), 1)
    it.answer(hold(6), 1000)
    it.answer(hold(6), silence)
    it.found(it.due(silence).get, Nil)
    it.checkEnd(earlier = 2)
    it.answer(Finish(0, 6, skipped = 1, RowTotal(3, 8)), silence)
    intercept[OnceException](it.checkEnd(earlier = 2))
    assert(it.total === RowTotal(3, 8))
  }

  test("time for which the driver's clock stood still shortens a right") {
    val it = session()
    def millis(lost: Long) = it.answer(hold(5), 1000, lost) match {
      case Held(left, _) => left
      case _ => 0L
    }
    assert(millis(lost = 4000) === lease - 5000)
    assert(millis(lost = lease) === 0)
  }

  test("the cause that ended a session reaches the query") {
    val (it, cause) = (session(), new OutOfMemoryError("a test"))
    it.end(OnceException.failed("read", cause))
    assert(intercept[OnceException](it.checkEnd(0)).getCause === cause)
  }
}
