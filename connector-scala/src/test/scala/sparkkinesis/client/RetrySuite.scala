package sparkkinesis.client

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.FastClock

class RetrySuite extends AnyFunSuite {
  private def calls(failure: => KinesisException): (Int, Long) = {
    val clock = new FastClock
    var count = 0
    intercept[KinesisException] {
      Retry.atStart(clock) {
        count += 1
        throw failure
      }
    }
    (count, clock.elapsedMillis)
  }

  private def missing = new KinesisException.BadCredentials("none", mayPass = true)

  test("a failure that may pass is retried with pauses, and the last failure is thrown") {
    assert(calls(new KinesisException.ServiceFailure("internal")) === ((4, 100L + 200 + 400)))
  }

  test("a quota that is exceeded gets more attempts than other failures") {
    val millis = Seq(100L, 200, 400, 800, 1600, 3200).sum + 21 * 5000
    assert(calls(new KinesisException.LimitExceeded("busy")) === ((28, millis)))
    assert(calls(new KinesisException.Throttled("busy")) === ((28, millis)))
  }

  test("a quota and other failures do not use up each other's attempts") {
    val busy = new KinesisException.Throttled("busy")
    val broken = new KinesisException.ServiceFailure("internal")
    def count(failures: Seq[KinesisException]): Int = {
      val script = failures.iterator
      Retry.atStart(new FastClock)(script.nextOption().foreach(throw _))
      failures.size
    }
    assert(count(Seq.fill(27)(busy) ++ Seq.fill(3)(broken)) === 30)
    assert(count(Seq.fill(3)(broken) ++ Seq.fill(27)(busy)) === 30)
    intercept[KinesisException](count(Seq.fill(27)(busy) ++ Seq.fill(4)(broken)))
    intercept[KinesisException](count(Seq.fill(3)(broken) ++ Seq.fill(28)(busy)))
  }

  private def passed(limit: FiniteDuration, failure: => KinesisException): Long = {
    val clock = new FastClock
    intercept[KinesisException](Retry.within(limit, clock)(throw failure))
    clock.elapsedMillis
  }

  test("a write repeats every failure that may pass, until its time is over") {
    def within(least: Long, failure: KinesisException) = {
      val millis = passed(5.minutes, failure)
      assert(millis >= least && millis < least + 5000, failure)
    }
    within(300000, new KinesisException.Unreachable("reset"))
    within(300000, new KinesisException.LimitExceeded("busy"))
    within(300000, new KinesisException.InUse("resharding"))
    within(30000, new KinesisException.CredentialsExpired("old"))
    within(30000, missing)
    assert(passed(5.minutes, new KinesisException.NotFound("none")) === 0)
    assert(passed(Duration.Zero, new KinesisException.Unreachable("reset")) === 0)
  }

  test("a failure that retries cannot fix is thrown at once") {
    assert(calls(new KinesisException.NotFound("none")) === ((1, 0L)))
    assert(calls(new KinesisException.Unreachable("silent")) === ((1, 0L)))
    assert(calls(missing) === ((1, 0L)))
  }
}
