package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{Clock, KinesisClient, KinesisException}
import sparkkinesis.model.Position
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.{ScriptedKinesis, SourceException}

/** The checks of one stream when a query starts. */
class QueryStreamSuite extends AnyFunSuite {
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
    val stream: QueryStream = QueryStreamSuite.queryStream(kinesis, clock)
    val expired = new ExpiredShards(stream, failOnDataLoss)

    def check(offset: StreamOffset): Unit = {
      stream.checkIdentity(offset)
      expired.check(offset)
    }

    def refusal(offset: StreamOffset): SourceException = intercept[SourceException](check(offset))
  }

  test("a stream is described once") {
    val checking = new Checking(new ScriptedKinesis().summary(summary()))
    checking.check(offset)
    checking.check(offset)
    assert(checking.stream.arn === arn)
  }

  test(
    "a stream that was deleted and recreated is refused, and the error has both creation times"
  ) {
    val again = Instant.parse("2026-01-02T00:00:00Z")
    val e = new Checking(new ScriptedKinesis().summary(summary(created = again))).refusal(offset)
    assert(e.condition === "KINESIS_STREAM_RECREATED")
    assert(e.getMessage.contains(again.toString) && e.getMessage.contains(Instant.EPOCH.toString))
  }

  test(
    "a possible loss is refused at every check, or tolerated with `failOnDataLoss` set to `false`"
  ) {
    val stale = new Checking(new ScriptedKinesis().summary(summary()))
    stale.clock.pass(24.hours)
    stale.check(offset)
    val later = new Checking(new ScriptedKinesis().summary(summary()))
    later.clock.pass(24.hours + 1.milli)
    assert(later.refusal(offset).condition === "KINESIS_DATA_LOSS")
    assert(later.refusal(offset).getMessage.contains("failOnDataLoss"))
    later.check(offsetOf(Some(1)))
    val lenient =
      new Checking(new ScriptedKinesis().summary(summary()), failOnDataLoss = false)
    lenient.clock.pass(1000.hours)
    lenient.check(offset)
  }

  test(
    "the error names the least complete shard, and a shard that owes no record causes no error"
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
    later().check(offsetOf(Some(hour), None))
  }

  test("a loss is reported once, because later offsets drop the time that revealed it") {
    val lenient =
      new Checking(new ScriptedKinesis().summary(summary()), failOnDataLoss = false)
    lenient.clock.pass(25.hours)
    val both = offsetOf(Some(7), Some(2.hours.toMillis))
    assert(lenient.expired.withoutReported(both) eq both)
    lenient.check(both)
    assert(lenient.expired.count === 1)
    assert(lenient.expired.withoutReported(both) === offsetOf(None, Some(2.hours.toMillis)))
    val moved = offsetOf(Some(8), None)
    assert(lenient.expired.withoutReported(moved) eq moved, "read meanwhile")
  }

  test(
    "an endpoint that does not respond is not called again, because the call itself has waited"
  ) {
    val silent = new KinesisException.Unreachable("no answer")
    val checking = new Checking(new ScriptedKinesis().summary(throw silent).summary(summary()))
    assertThrows[KinesisException.Unreachable](checking.check(offset))
    assert(checking.clock.now === Instant.EPOCH)
  }

  test("a call with a temporary failure is repeated at most three times") {
    val patient = new ScriptedKinesis()
    (1 to 3).foreach(_ => patient.summary(throw Throttled))
    val checking = new Checking(patient.summary(summary()))
    checking.check(offset)
    assert(checking.clock.now.toEpochMilli === 100 + 200 + 400)
    val outage = new ScriptedKinesis()
    (1 to 4).foreach(_ => outage.summary(throw new KinesisException.ServiceFailure("internal")))
    assertThrows[KinesisException.ServiceFailure](new Checking(outage).check(offset))
    val denied = new ScriptedKinesis().summary(throw new KinesisException.AccessDenied("no"))
    assertThrows[KinesisException.AccessDenied](new Checking(denied).check(offset))
  }

  test("firstOffset has all shards, and retention is that of the stream") {
    val kinesis = new ScriptedKinesis().summary(summary()).listing(listing(newStream(2): _*))
    val checking = new Checking(kinesis.summary(summary(retention = 48.hours)))
    assert(checking.stream.firstOffset().shards.size === 2)
    assert(checking.stream.retention === 48.hours)
  }
}

object QueryStreamSuite {
  def queryStream(
      kinesis: KinesisClient,
      clock: Clock,
      start: Position = Position.Latest
  ): QueryStream = {
    val options = SourceOptions.parse(Map("streamArn" -> arn.toString), None)
    new QueryStream(options.streams.head, kinesis, ByShard(start), clock, () => 0.5)
  }
}
