package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.stream
import sparkkinesis.client.{KinesisClient, KinesisException, StreamSummary}
import sparkkinesis.model.StreamRef
import sparkkinesis.source.ScriptedKinesis.{Throttled, summary}
import sparkkinesis.source.{ReadOnlyKinesis, ScriptedKinesis}

/**
 * The horizon
 *   - is passed ten minutes after the retention, not at it;
 *   - is not asked of the service for what is young enough for any stream;
 *   - is asked anew after ten minutes, as the retention may be changed.
 */
class RetentionCheckSuite extends AnyFunSuite {
  private val now = Instant.parse("2026-01-09T00:00:00Z")

  private def ago(age: FiniteDuration): Instant = now.minusMillis(age.toMillis)

  /** A stream whose retention is changed at will. */
  private class Kept(var retention: FiniteDuration) {
    var asked = 0
    private val client: KinesisClient = new ReadOnlyKinesis {
      override def describeStream(stream: StreamRef): StreamSummary = {
        asked += 1
        summary(retention = retention)
      }
    }
    val horizon = new RetentionCheck(client, stream)
  }

  test("passed a little after the retention") {
    Seq(24.hours, 48.hours, (365 * 24).hours).foreach { retention =>
      val horizon = new Kept(retention).horizon
      assert(!horizon.hasPassed(ago(retention + 10.minutes), now))
      assert(horizon.hasPassed(ago(retention + 10.minutes + 1.milli), now))
    }
  }

  test("what is younger than the shortest retention costs no call") {
    val kept = new Kept(48.hours)
    assert(!kept.horizon.hasPassed(ago(24.hours + 10.minutes), now) && kept.asked === 0)
    assert(!kept.horizon.hasPassed(ago(25.hours), now) && kept.asked === 1)
  }

  test("the retention is remembered for ten minutes, then a change is noticed") {
    val kept = new Kept(48.hours)
    def hasPassed(after: FiniteDuration) =
      kept.horizon.hasPassed(ago(47.hours), now.plusMillis(after.toMillis))
    assert(!hasPassed(0.minutes))
    kept.retention = 24.hours
    assert(!hasPassed(10.minutes - 1.milli) && kept.asked === 1)
    assert(hasPassed(10.minutes) && kept.asked === 2)
  }

  test("a failed call is the caller's to retry, and is not remembered") {
    val kinesis = new ScriptedKinesis().summary(throw Throttled).summary(summary())
    val horizon = new RetentionCheck(kinesis, stream)
    assert(intercept[Exception](horizon.hasPassed(ago(30.hours), now)) eq Throttled)
    assert(horizon.hasPassed(ago(30.hours), now))
  }

  test("too busy to tell the retention again: what it said before holds, as for a while more") {
    val kinesis = new ScriptedKinesis()
      .summary(summary(retention = 48.hours))
      .summary(throw new KinesisException.LimitExceeded("too many calls"))
      .summary(summary(retention = 24.hours))
    val horizon = new RetentionCheck(kinesis, stream)
    def hasPassed(after: FiniteDuration) =
      horizon.hasPassed(ago(47.hours), now.plusMillis(after.toMillis))
    assert(!hasPassed(0.minutes))
    assert(!hasPassed(10.minutes), "not known anew, and no failure")
    assert(!hasPassed(20.minutes - 1.milli), "nor asked at every call")
    assert(hasPassed(20.minutes))
  }
}
