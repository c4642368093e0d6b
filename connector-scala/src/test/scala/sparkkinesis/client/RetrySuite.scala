package sparkkinesis.client

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.FastClock

class RetrySuite extends AnyFunSuite {
  private val retry = Retry(attempts = 4, Backoff(100.millis, 200.millis), throttledAttempts = 4)

  private def calls(failure: => KinesisException): (Int, Long) = {
    val clock = new FastClock
    val begun = clock.now.toEpochMilli
    var count = 0
    intercept[KinesisException] {
      retry(clock, () => 0.5) {
        count += 1
        throw failure
      }
    }
    (count, clock.now.toEpochMilli - begun)
  }

  test("a failure that may pass is retried with pauses, and the last failure is thrown") {
    assert(calls(new KinesisException.LimitExceeded("busy")) === ((4, 50L + 100 + 100)))
  }

  test("a quota that is exceeded gets more attempts than other failures") {
    val patient = retry.copy(throttledAttempts = 20)
    def count(failure: KinesisException) = {
      var calls = 0
      intercept[KinesisException](patient(new FastClock, () => 0.5) { calls += 1; throw failure })
      calls
    }
    assert(count(new KinesisException.LimitExceeded("busy")) === 20)
    assert(count(new KinesisException.Throttled("busy")) === 20)
    assert(count(new KinesisException.ServiceFailure("internal")) === 4)
  }

  test("a quota and other failures do not use up each other's attempts") {
    val patient = retry.copy(throttledAttempts = 6)
    val busy = new KinesisException.Throttled("busy")
    val broken = new KinesisException.ServiceFailure("internal")
    def count(failures: Seq[KinesisException]): Int = {
      val script = failures.iterator
      patient(new FastClock, () => 0.5)(script.nextOption().foreach(throw _))
      failures.size
    }
    assert(count(Seq.fill(5)(busy) ++ Seq.fill(3)(broken)) === 8)
    assert(count(Seq.fill(3)(broken) ++ Seq.fill(5)(busy)) === 8)
    intercept[KinesisException](count(Seq.fill(5)(busy) ++ Seq.fill(4)(broken)))
    intercept[KinesisException](count(Seq.fill(3)(broken) ++ Seq.fill(6)(busy)))
  }

  private def passed(patience: Patience, failure: => KinesisException): Long = {
    val clock = new FastClock
    intercept[KinesisException](patience(clock, () => 0.5)(throw failure))
    clock.elapsedMillis
  }

  test("a write repeats every failure that may pass, until its time is over") {
    val patience = Patience(5.minutes)
    def within(least: Long, failure: KinesisException) = {
      val millis = passed(patience, failure)
      assert(millis >= least && millis < least + 5000, failure)
    }
    within(300000, new KinesisException.Unreachable("reset"))
    within(300000, new KinesisException.LimitExceeded("busy"))
    within(300000, new KinesisException.InUse("resharding"))
    within(30000, new KinesisException.CredentialsExpired("old"))
    assert(passed(patience, new KinesisException.NotFound("none")) === 0)
    assert(passed(Patience(Duration.Zero), new KinesisException.Unreachable("reset")) === 0)
  }

  test("a failure that retries cannot fix is thrown at once") {
    assert(calls(new KinesisException.NotFound("none")) === ((1, 0L)))
    assert(calls(new KinesisException.Unreachable("silent")) === ((1, 0L)))
  }
}
