package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.stream
import sparkkinesis.client.{KinesisClient, KinesisException, StreamSummary}
import sparkkinesis.model.StreamRef
import sparkkinesis.source.ScriptedKinesis.{Throttled, summary}
import sparkkinesis.source.{ReadOnlyKinesis, ScriptedKinesis, StreamClient}

/**
 * The retention check
 *   - allows ten minutes more than the retention period;
 *   - calls the service only for records older than the shortest possible retention period;
 *   - calls again after ten minutes, because the retention period may change.
 */
class RetentionCheckSuite extends AnyFunSuite {
  private val now = Instant.parse("2026-01-09T00:00:00Z")

  private def ago(age: FiniteDuration): Instant = now.minusMillis(age.toMillis)

  /** A stream whose retention period the test changes. */
  private class Kept(var retention: FiniteDuration) {
    var asked = 0
    private val client: KinesisClient = new ReadOnlyKinesis {
      override def describeStream(stream: StreamRef): StreamSummary = {
        asked += 1
        summary(retention = retention)
      }
    }
    val horizon = new RetentionCheck(StreamClient(stream, client))
  }

  test("records are lost a little after the retention period") {
    Seq(24.hours, 48.hours, (365 * 24).hours).foreach { retention =>
      val horizon = new Kept(retention).horizon
      assert(!horizon.hasPassed(ago(retention + 10.minutes), now))
      assert(horizon.hasPassed(ago(retention + 10.minutes + 1.milli), now))
    }
  }

  test("records younger than the shortest retention period cost no call") {
    val kept = new Kept(48.hours)
    assert(!kept.horizon.hasPassed(ago(24.hours + 10.minutes), now) && kept.asked === 0)
    assert(!kept.horizon.hasPassed(ago(25.hours), now) && kept.asked === 1)
  }

  test("the retention period is cached for ten minutes, then a change takes effect") {
    val kept = new Kept(48.hours)
    def hasPassed(after: FiniteDuration) =
      kept.horizon.hasPassed(ago(47.hours), now.plusMillis(after.toMillis))
    assert(!hasPassed(0.minutes))
    kept.retention = 24.hours
    assert(!hasPassed(10.minutes - 1.milli) && kept.asked === 1)
    assert(hasPassed(10.minutes) && kept.asked === 2)
  }

  test("many shards of a stream that begin far behind cost one call in ten minutes") {
    var asked = 0
    val client = new ReadOnlyKinesis {
      override def describeStream(stream: StreamRef): StreamSummary = {
        asked += 1
        summary(retention = 48.hours)
      }
    }
    val shared = StreamClient(stream, client)
    (0 until 600).foreach { second =>
      assert(!new RetentionCheck(shared).hasPassed(ago(47.hours), now.plusSeconds(second.toLong)))
    }
    assert(asked === 1)
  }

  test("with the driver's value an executor makes no call, unless it would report a loss") {
    val kinesis = new ScriptedKinesis()
    val known = StreamClient(stream, kinesis)
    known.shared.retention.learn(48.hours, now)
    assert(!new RetentionCheck(known).hasPassed(ago(47.hours), now.plusSeconds(599)))
    kinesis.summary(throw new KinesisException.LimitExceeded("too many calls"))
    assert(new RetentionCheck(known).hasPassed(ago(49.hours), now.plusSeconds(61)))
    kinesis.summary(summary(retention = 72.hours))
    assert(!new RetentionCheck(known).hasPassed(ago(49.hours), now.plusSeconds(122)))
  }

  test("a failed call is left to the caller to retry, and is not cached") {
    val kinesis = new ScriptedKinesis().summary(throw Throttled).summary(summary())
    val horizon = new RetentionCheck(StreamClient(stream, kinesis))
    assert(intercept[Exception](horizon.hasPassed(ago(30.hours), now)) eq Throttled)
    assert(horizon.hasPassed(ago(30.hours), now))
  }

  test("if the service is too busy, the last known retention period is used") {
    val kinesis = new ScriptedKinesis()
      .summary(summary(retention = 48.hours))
      .summary(throw new KinesisException.LimitExceeded("too many calls"))
      .summary(summary(retention = 24.hours))
    val horizon = new RetentionCheck(StreamClient(stream, kinesis))
    def hasPassed(after: FiniteDuration) =
      horizon.hasPassed(ago(47.hours), now.plusMillis(after.toMillis))
    assert(!hasPassed(0.minutes))
    assert(!hasPassed(10.minutes), "the old value, and no failure")
    assert(!hasPassed(20.minutes - 1.milli), "nor asked at every call")
    assert(hasPassed(20.minutes))
  }
}
