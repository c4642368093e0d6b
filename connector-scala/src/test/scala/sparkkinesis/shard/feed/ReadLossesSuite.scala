package sparkkinesis.shard.feed

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators.stream
import sparkkinesis.client.{KinesisClient, KinesisException, Moment, StreamSummary}
import sparkkinesis.model.StreamRef
import sparkkinesis.shard.StreamClient
import sparkkinesis.source.ScriptedKinesis.{Throttled, summary}
import sparkkinesis.source.{ReadOnlyKinesis, ScriptedKinesis}

/**
 * The retention check
 *   - allows ten minutes more than the retention period;
 *   - calls the service only for records older than the shortest possible retention period;
 *   - calls again after ten minutes, because the retention period may change.
 */
class ReadLossesSuite extends AnyFunSuite {
  private val now = Instant.parse("2026-01-09T00:00:00Z")

  /** The time of day and the time of the steady clock have nothing to do with each other. */
  private def at(after: FiniteDuration): Moment =
    Moment(now.plusMillis(after.toMillis), Instant.EPOCH.plusMillis(after.toMillis))

  private def ago(age: FiniteDuration): Instant = now.minusMillis(age.toMillis)

  private def lossesOf(stream: StreamClient) = new ReadLosses(stream, failOnDataLoss = true)

  /** A stream whose retention period the test changes. */
  private class Kept(var retention: FiniteDuration) {
    var asked = 0
    private val client: KinesisClient = new ReadOnlyKinesis {
      override def describeStream(stream: StreamRef): StreamSummary = {
        asked += 1
        summary(retention = retention)
      }
    }
    val losses = lossesOf(StreamClient(stream, client))
  }

  test("records are lost a little after the retention period") {
    Seq(24.hours, 48.hours, (365 * 24).hours).foreach { retention =>
      val losses = new Kept(retention).losses
      assert(!losses.mayHaveExpired(ago(retention + 10.minutes), at(0.minutes)))
      assert(losses.mayHaveExpired(ago(retention + 10.minutes + 1.milli), at(0.minutes)))
    }
  }

  test("records younger than the shortest retention period cost no call") {
    val kept = new Kept(48.hours)
    assert(
      !kept.losses.mayHaveExpired(ago(24.hours + 10.minutes), at(0.minutes)) && kept.asked === 0
    )
    assert(!kept.losses.mayHaveExpired(ago(25.hours), at(0.minutes)) && kept.asked === 1)
  }

  test("the retention period is cached for ten minutes, then a change takes effect") {
    val kept = new Kept(48.hours)
    def hasPassed(after: FiniteDuration) =
      kept.losses.mayHaveExpired(ago(47.hours), at(after))
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
      assert(
        !lossesOf(shared)
          .mayHaveExpired(ago(47.hours), at(second.seconds))
      )
    }
    assert(asked === 1)
  }

  private val busy = new KinesisException.LimitExceeded("too many calls")

  test("with the driver's value an executor makes no call, unless it would report a loss") {
    val kinesis = new ScriptedKinesis()
    val known = StreamClient(stream, kinesis)
    known.shared.facts.learn(48.hours, at(0.minutes).steady)
    assert(
      !lossesOf(known).mayHaveExpired(ago(47.hours), at(599.seconds))
    )
    kinesis.summary(summary(retention = 72.hours))
    assert(
      !lossesOf(known).mayHaveExpired(ago(49.hours), at(599.seconds))
    )
  }

  test("the driver's value is no proof, even if the executor has just learned it") {
    val known = StreamClient(stream, new ScriptedKinesis().summary(summary(retention = 48.hours)))
    known.shared.facts.learn(24.hours, at(0.minutes).steady)
    assert(
      !lossesOf(known).mayHaveExpired(ago(30.hours), at(0.minutes))
    )
  }

  test("a shard proves no loss while another one asks: it reads its page again") {
    var others = Seq.empty[Throwable]
    lazy val known: StreamClient = StreamClient(
      stream,
      new ReadOnlyKinesis {
        override def describeStream(stream: StreamRef): StreamSummary = {
          val other = lossesOf(known)
          others :+= intercept[KinesisException](other.mayHaveExpired(ago(30.hours), at(0.minutes)))
          summary(retention = 48.hours)
        }
      }
    )
    known.shared.facts.learn(24.hours, at(0.minutes).steady)
    assert(
      !lossesOf(known).mayHaveExpired(ago(30.hours), at(0.minutes))
    )
    assert(others.size === 1 && others.head.getMessage.contains(stream.toString))
    assert(
      !lossesOf(known).mayHaveExpired(ago(30.hours), at(0.minutes))
    )
  }

  test("a failed call proves no loss, and is repeated after a second") {
    val kinesis = new ScriptedKinesis()
      .summary(summary(retention = 24.hours))
      .summary(throw busy)
      .summary(summary(retention = 48.hours))
    val losses = lossesOf(StreamClient(stream, kinesis))
    assert(losses.mayHaveExpired(ago(30.hours), at(0.minutes)))
    Seq(1.minute, 61.seconds - 1.milli).foreach { after =>
      assert(intercept[Exception](losses.mayHaveExpired(ago(30.hours), at(after))) eq busy)
    }
    assert(!losses.mayHaveExpired(ago(30.hours), at(61.seconds)))
  }

  test("a failed call is left to the caller to retry, also if no value is known") {
    val kinesis = new ScriptedKinesis().summary(throw Throttled).summary(summary())
    val losses = lossesOf(StreamClient(stream, kinesis))
    assert(intercept[Exception](losses.mayHaveExpired(ago(30.hours), at(0.minutes))) eq Throttled)
    assert(losses.mayHaveExpired(ago(30.hours), at(1.second)))
  }

  test("a jump of the time of day does not make a description old or new") {
    val kinesis = new ScriptedKinesis().summary(summary()).summary(summary(retention = 48.hours))
    val losses = lossesOf(StreamClient(stream, kinesis))
    val later = now.plusSeconds(3600)
    assert(losses.mayHaveExpired(ago(30.hours), at(0.minutes)))
    assert(losses.mayHaveExpired(ago(30.hours), at(59.seconds).copy(now = later)))
    assert(!losses.mayHaveExpired(ago(30.hours), at(60.seconds).copy(now = now)))
  }

  test("if the service is too busy, no loss is assumed as long as the last known value has none") {
    val kinesis = new ScriptedKinesis()
      .summary(summary(retention = 48.hours))
      .summary(throw busy)
      .summary(summary(retention = 24.hours))
    val losses = lossesOf(StreamClient(stream, kinesis))
    def hasPassed(after: FiniteDuration) = losses.mayHaveExpired(ago(47.hours), at(after))
    assert(!hasPassed(0.minutes))
    assert(!hasPassed(10.minutes), "the old value, and no failure")
    assert(!hasPassed(10.minutes + 1.second - 1.milli), "nor asked at every call")
    assert(hasPassed(10.minutes + 1.second))
  }
}
