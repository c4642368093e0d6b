package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{Clock, KinesisClient, KinesisException, StreamSummary}
import sparkkinesis.model.Position
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.shard.{ServiceTime, SourceException}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.position.ByShard

/** The calls about one stream, and its checks, when a query starts. */
class QueryStreamSuite extends AnyFunSuite {
  import QueryStreamSuite._

  private def offsetOf(completeAsOf: Option[Long]*) = StreamOffset(
    arn,
    Instant.EPOCH,
    SortedMap.from(completeAsOf.zipWithIndex.map { case (millis, index) =>
      val complete = millis.map(Instant.ofEpochMilli)
      shardId(index) -> ShardProgress(Progress.TrimHorizon, Set.empty, complete)
    })
  )
  private val offset = offsetOf(Some(0))

  private class Checking(failOnDataLoss: Boolean = true) {
    val expired = new ExpiredShards(described, failOnDataLoss)

    def check(offset: StreamOffset, at: FiniteDuration): Unit =
      expired.check(offset, Instant.ofEpochMilli(at.toMillis))

    def refusal(offset: StreamOffset, at: FiniteDuration): SourceException =
      intercept[SourceException](check(offset, at))
  }

  test(
    "a stream that was deleted and recreated is refused, and the error has both creation times"
  ) {
    val (first, again) = (Created, Instant.parse("2026-01-02T00:00:00Z"))
    assert(described.recreated(again, again).isEmpty)
    val e = described.recreated(first, again).get
    assert(e.condition === "KINESIS_STREAM_RECREATED")
    assert(e.getMessage.contains(again.toString) && e.getMessage.contains(first.toString))
  }

  test("a server that does not say when a stream was created has not created it again") {
    val unknown = StreamSummary.UnknownCreation
    assert(described.recreated(Created, unknown).isEmpty)
    assert(described.recreated(unknown, Created).isEmpty)
  }

  test(
    "a possible loss is refused at every check, or tolerated with `failOnDataLoss` set to `false`"
  ) {
    val strict = new Checking
    strict.check(offset, 24.hours)
    val late = 24.hours + 1.milli
    assert(strict.refusal(offset, late).condition === "KINESIS_DATA_LOSS")
    assert(strict.refusal(offset, late).getMessage.contains("failOnDataLoss"))
    strict.check(offsetOf(Some(1)), late)
    new Checking(failOnDataLoss = false).check(offset, 1000.hours)
  }

  test(
    "the error names the least complete shard, and a shard that owes no record causes no error"
  ) {
    val hour = 1.hour.toMillis
    val e = new Checking().refusal(offsetOf(Some(hour), Some(7), Some(5), None), 25.hours)
    assert(e.condition === "KINESIS_DATA_LOSS" && e.getMessage.contains(shardId(2).name))
    assert(e.getMessage.contains("1970-01-01T00:00:00.005Z"))
    new Checking().check(offsetOf(Some(hour), None), 25.hours)
  }

  test("a loss is reported once, because later offsets drop the time that revealed it") {
    val lenient = new Checking(failOnDataLoss = false)
    val both = offsetOf(Some(7), Some(2.hours.toMillis))
    assert(lenient.expired.withoutReported(both) eq both)
    lenient.check(both, 25.hours)
    assert(lenient.expired.count === 1)
    assert(lenient.expired.withoutReported(both) === offsetOf(None, Some(2.hours.toMillis)))
    val moved = offsetOf(Some(8), None)
    assert(lenient.expired.withoutReported(moved) eq moved, "read meanwhile")
  }

  test(
    "an endpoint that does not respond is not called again, because the call itself has waited"
  ) {
    val clock = new FastClock
    val silent = new KinesisException.Unreachable("no answer")
    val kinesis = new ScriptedKinesis().summary(throw silent).summary(summary())
    assertThrows[KinesisException.Unreachable](queryStream(kinesis, clock).describe())
    assert(clock.now === Instant.EPOCH)
  }

  test("a call with a temporary failure is repeated at most three times") {
    val clock = new FastClock
    val patient = new ScriptedKinesis()
    (1 to 3).foreach(_ => patient.summary(throw Throttled))
    assert(queryStream(patient.summary(summary()), clock).describe().arn === arn)
    assert(clock.now.toEpochMilli === 100 + 200 + 400)
    val outage = new ScriptedKinesis()
    (1 to 4).foreach(_ => outage.summary(throw new KinesisException.ServiceFailure("internal")))
    assertThrows[KinesisException.ServiceFailure](queryStream(outage, clock).describe())
    val denied = new ScriptedKinesis().summary(throw new KinesisException.AccessDenied("no"))
    assertThrows[KinesisException.AccessDenied](queryStream(denied, clock).describe())
  }

  test("firstOffset has all shards, and retention is that of the stream") {
    val kinesis = new ScriptedKinesis().summary(summary()).listing(listing(newStream(2): _*))
    val stream = queryStream(kinesis.summary(summary(retention = 48.hours)), new FastClock)
    assert(stream.firstOffset().shards.size === 2)
    assert(stream.describe().retention === 48.hours)
  }

  /** The stop time, and what the clock, which was ahead of the service's, shows after the wait. */
  private def stopping(ahead: FiniteDuration, reported: Option[Instant]) = {
    val clock = new FastClock
    clock.pass(ahead)
    val kinesis = new ScriptedKinesis().listing(listing().copy(serverTime = reported))
    val stop = QueryStream.stopTime(Seq(queryStream(kinesis, clock)))
    (stop.toEpochMilli, clock.now.toEpochMilli)
  }

  test("reading begins a second after the stop time, when records that arrived are visible") {
    assert(stopping(0.seconds, reported = None) === (0, 1000))
    assert(stopping(0.seconds, reported = Some(Instant.EPOCH)) === (0, 1000))
    // The service may have the time 0, and a record that arrives at 900 is visible at 1900.
    assert(stopping(900.millis, reported = Some(Instant.EPOCH)) === (900, 900 + 1900))
    assert(stopping(5.seconds, reported = Some(Instant.EPOCH)) === (1000, 5000 + 2000))
  }
}

object QueryStreamSuite {
  private val access = SourceOptions.parse(Map("streamArn" -> arn.toString), None).streams.head

  def queryStream(
      kinesis: KinesisClient,
      clock: Clock,
      start: Position = Position.Latest
  ): QueryStream = new QueryStream(access, kinesis, ByShard(start), clock)

  /** A stream as it was described when a query began. */
  def described: DescribedStream = DescribedStream(access, summary(), new ServiceTime)
}
