package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{Clock, KinesisClient, KinesisException}
import sparkkinesis.model.StreamRef
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.position.{ByShard, StartingPosition}
import sparkkinesis.source.{ScriptedKinesis, SourceException, StreamClient}

class StreamCheckSuite extends AnyFunSuite {
  private def offsetOf(completeAsOf: Option[Long]*) = StreamOffset(
    arn,
    Instant.EPOCH,
    SortedMap.from(completeAsOf.zipWithIndex.map { case (millis, index) =>
      val complete = millis.map(Instant.ofEpochMilli)
      shardId(index) -> ShardProgress(Progress.TrimHorizon, Set.empty, complete)
    })
  )
  private val offset = offsetOf(Some(0))

  private class Checking(val kinesis: ScriptedKinesis, failOnDataLoss: Boolean = true) {
    val clock = new FastClock
    val checked: StreamCheck = StreamCheckSuite.checked(kinesis, clock, failOnDataLoss)

    def refusal(offset: StreamOffset): SourceException =
      intercept[SourceException](checked.check(offset))
  }

  test("the stream is asked about once") {
    val checking = new Checking(new ScriptedKinesis().summary(summary()))
    checking.checked.check(offset)
    checking.checked.check(offset)
    assert(checking.checked.arn === arn)
  }

  test("a stream that was deleted and made again is refused with both times") {
    val again = Instant.parse("2026-01-02T00:00:00Z")
    val e = new Checking(new ScriptedKinesis().summary(summary(created = again))).refusal(offset)
    assert(e.condition === "KINESIS_STREAM_RECREATED")
    assert(e.getMessage.contains(again.toString) && e.getMessage.contains(Instant.EPOCH.toString))
  }

  test("what may have been trimmed unread is refused, each time, or passed over where allowed") {
    val stale = new Checking(new ScriptedKinesis().summary(summary()))
    stale.clock.pass(24.hours)
    stale.checked.check(offset)
    val later = new Checking(new ScriptedKinesis().summary(summary()))
    later.clock.pass(24.hours + 1.milli)
    assert(later.refusal(offset).condition === "KINESIS_DATA_LOSS")
    assert(later.refusal(offset).getMessage.contains("failOnDataLoss"))
    later.checked.check(offsetOf(Some(1)))
    val lenient =
      new Checking(new ScriptedKinesis().summary(summary()), failOnDataLoss = false)
    lenient.clock.pass(1000.hours)
    lenient.checked.check(offset)
  }

  test(
    "each shard counts for itself: the least complete is named, one that is owed nothing is not"
  ) {
    def later() = {
      val checking = new Checking(new ScriptedKinesis().summary(summary()))
      checking.clock.pass(25.hours)
      checking
    }
    val hour = 1.hour.toMillis
    val e = later().refusal(offsetOf(Some(hour), Some(7), Some(5), None))
    assert(e.condition === "KINESIS_DATA_LOSS" && e.getMessage.contains(shardId(2).name))
    assert(e.getMessage.contains("1970-01-01T00:00:00.005Z"))
    later().checked.check(offsetOf(Some(hour), None))
  }

  test("an endpoint that does not answer is not asked again: the call itself has waited") {
    val silent = new KinesisException.Unreachable("no answer")
    val checking = new Checking(new ScriptedKinesis().summary(throw silent).summary(summary()))
    assertThrows[KinesisException.Unreachable](checking.checked.check(offset))
    assert(checking.clock.now === Instant.EPOCH)
  }

  test("a call that fails for a moment is made again, three times at most") {
    val patient = new ScriptedKinesis()
    (1 to 3).foreach(_ => patient.summary(throw Throttled))
    val checking = new Checking(patient.summary(summary()))
    checking.checked.check(offset)
    assert(checking.clock.now.toEpochMilli === 100 + 200 + 400)
    val outage = new ScriptedKinesis()
    (1 to 9).foreach(_ => outage.summary(throw Throttled))
    assertThrows[KinesisException.Throttled](new Checking(outage).checked.check(offset))
    val denied = new ScriptedKinesis().summary(throw new KinesisException.AccessDenied("no"))
    assertThrows[KinesisException.AccessDenied](new Checking(denied).checked.check(offset))
  }

  test("the first offset, and how often an idle query confirms") {
    val kinesis = new ScriptedKinesis().summary(summary()).listing(listing(newStream(2): _*))
    val checking = new Checking(kinesis.summary(summary(retention = 48.hours)))
    assert(checking.checked.begin().shards.size === 2)
    assert(checking.checked.confirmationPeriod === 12.hours)
  }
}

object StreamCheckSuite {
  def checked(
      kinesis: KinesisClient,
      clock: Clock,
      failOnDataLoss: Boolean = true,
      ref: StreamRef = stream,
      start: StartingPosition = StartingPosition.Latest
  ): StreamCheck =
    new StreamCheck(StreamClient(ref, kinesis), ByShard(start), failOnDataLoss, clock, () => 0.5)
}
