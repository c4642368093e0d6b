package sparkkinesis.client

import java.time.Instant

import scala.concurrent.duration.FiniteDuration
import scala.jdk.DurationConverters._

import org.scalatest.funsuite.AnyFunSuite

class PoolSuite extends AnyFunSuite {
  private final class Resource extends AutoCloseable {
    var closed = 0
    var closing: () => Unit = () => ()
    override def close(): Unit = {
      closed += 1
      closing()
    }
  }

  private class Fixture {
    var time: Instant = Instant.EPOCH
    var due: Vector[(FiniteDuration, () => Unit)] = Vector.empty[(FiniteDuration, () => Unit)]

    private val clock = new Clock {
      override def now: Instant = time
      override def sleep(duration: FiniteDuration): Unit = fail()
    }
    val pool = new Pool[String, Resource](
      key => if (key == "bad") throw new IllegalStateException(key) else new Resource,
      clock,
      (delay, task) => due :+= (delay -> task)
    )

    def passIdleTime(): Unit = time = time.plus(Pool.IdleTime.toJava).plusSeconds(1)

    def run(number: Int): Unit = {
      time = time.plus(due(number)._1.toJava)
      due(number)._2()
    }
  }

  test("borrowers of one key share a value, which is closed when it has been idle for a while") {
    val fixture = new Fixture
    val (first, second) = (fixture.pool.borrow("a"), fixture.pool.borrow("a"))
    assert(second.value eq first.value)
    first.close()
    first.close() // once is enough
    fixture.passIdleTime()
    fixture.pool.borrow("b").close()
    fixture.run(0)
    assert(first.value.closed === 0, "the second borrower still has it")
    second.close()
    assert(fixture.pool.borrow("a").value eq first.value)
    assert(first.value.closed === 0)
  }

  test("an idle value is closed when its idle time is over, without the lock of the pool") {
    val fixture = new Fixture
    val loan = fixture.pool.borrow("a")
    assert(fixture.due.isEmpty)
    loan.close()
    loan.value.closing = () => assert(!Thread.holdsLock(fixture.pool))
    fixture.run(0)
    assert(loan.value.closed === 1)
    assert(fixture.pool.borrow("a").value ne loan.value)
  }

  test("a value that fails to close does not keep others open") {
    val fixture = new Fixture
    val loans = Seq("a", "b").map(fixture.pool.borrow)
    loans.foreach { loan =>
      loan.value.closing = () => throw new IllegalStateException("sealed")
      loan.close()
    }
    fixture.run(0)
    assert(loans.map(_.value.closed) === Seq(1, 1))
  }

  test("at most one check for idle values is scheduled at a time") {
    val fixture = new Fixture
    val loan = fixture.pool.borrow("a")
    (1 to 9).foreach(_ => fixture.pool.borrow("b").close())
    fixture.time = fixture.time.plusSeconds(30)
    loan.close()
    assert(fixture.due.size === 1)
    fixture.time = fixture.time.plusSeconds(31)
    fixture.due.head._2()
    assert(loan.value.closed === 0 && fixture.due.size === 2)
    fixture.run(1)
    assert(loan.value.closed === 1 && fixture.due.size === 2)
  }

  test("a value that is borrowed again before the check stays open") {
    val fixture = new Fixture
    fixture.pool.borrow("a").close()
    val loan = fixture.pool.borrow("a")
    fixture.run(0)
    assert(loan.value.closed === 0)
  }

  test("if one of several values cannot be created, the others are returned") {
    val fixture = new Fixture
    assertThrows[IllegalStateException](fixture.pool.borrowAll(Seq("a", "b", "bad")))
    assert(fixture.pool.loans === 0)
    assert(fixture.pool.borrowAll(Seq("a", "b", "a")).size === 3 && fixture.pool.loans === 3)
  }
}
