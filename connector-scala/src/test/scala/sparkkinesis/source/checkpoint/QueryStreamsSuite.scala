package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{Position, SequenceNumber, StreamArn, StreamName, StreamRef, StreamShard}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}
import sparkkinesis.source.{ScriptedKinesis, SourceException}

/** Streams that are added to a query and removed from it between runs. */
class QueryStreamsSuite extends AnyFunSuite {
  private val orders = arn
  private val refunds = arn.copy(region = "us-east-1", name = StreamName("refunds"))

  private def offsetOf(arns: StreamArn*) = SourceOffset.of(arns.map { arn =>
    val shard = shardId(0) -> ShardProgress(Progress.TrimHorizon, Set.empty)
    StreamOffset(arn, Instant.EPOCH, SortedMap(shard))
  })

  /** A query that names these streams. */
  private def naming(arns: Seq[StreamArn], allowRemoval: Boolean = false): QueryStreams = {
    val named = Map("streamArn" -> arns.mkString(","), "allowStreamRemoval" -> s"$allowRemoval")
    val options = SourceOptions.parse(named, None)
    val streams = options.streams.zip(arns).map { case (access, arn) =>
      val kinesis = new ScriptedKinesis().summary(summary(stream = arn))
      kinesis.summary(summary(stream = arn)).listing(listing(newStream(1): _*)) // to begin, once
      new QueryStream(access, kinesis, ByShard(Position.TrimHorizon), new FastClock, () => 0.5)
    }
    new QueryStreams(options, streams)
  }

  private def refusal(streams: QueryStreams, offset: SourceOffset): SourceException =
    intercept[SourceException](streams.check(offset))

  test("a new query starts in each of its streams") {
    assert(naming(Seq(orders, refunds)).firstOffset() === offsetOf(orders, refunds))
  }

  /** What the clock shows that is ahead of the service's by `ahead`, before and after the wait. */
  private def stopping(ahead: FiniteDuration, reported: Option[Instant]) = {
    val clock = new FastClock
    clock.sleep(ahead)
    val options = SourceOptions.parse(Map("streamArn" -> orders.toString), None)
    val kinesis = new ScriptedKinesis().listing(listing().copy(serverTime = reported))
    val stream = new QueryStream(
      options.streams.head,
      kinesis,
      ByShard(Position.TrimHorizon),
      clock,
      () => 0.5
    )
    (new QueryStreams(options, Seq(stream)).stopTime().toEpochMilli, clock.now.toEpochMilli)
  }

  test("reading begins a second after the stop time, when records that arrived are visible") {
    assert(stopping(0.seconds, reported = None) === (0, 1000))
    assert(stopping(0.seconds, reported = Some(Instant.EPOCH)) === (0, 1000))
    // The service may have the time 0, and a record that arrives at 900 is visible at 1900.
    assert(stopping(900.millis, reported = Some(Instant.EPOCH)) === (900, 900 + 1900))
    assert(stopping(5.seconds, reported = Some(Instant.EPOCH)) === (1000, 5000 + 2000))
  }

  test("if the query names the checkpoint's streams, in any order, none is added or removed") {
    val streams = naming(Seq(refunds, orders))
    val offset = offsetOf(orders, refunds)
    streams.check(offset)
    assert((streams.withoutRemoved(offset) eq offset) && (streams.withJoined(offset) eq offset))
    assert(streams.access.keySet === Set(orders, refunds))
    assert(streams.access(refunds).client.region === "us-east-1")
  }

  test("a stream that is added starts where the option says, and is listed once per run") {
    val streams = naming(Seq(orders, refunds))
    val offset = offsetOf(orders)
    streams.check(offset)
    assert(streams.withJoined(streams.withoutRemoved(offset)) === offsetOf(orders, refunds))
    assert(streams.withJoined(offset) === offsetOf(orders, refunds), "not asked again")
  }

  test("a stream that is no longer named is refused, and the error has its name and the remedy") {
    val e = refusal(naming(Seq(orders)), offsetOf(orders, refunds))
    assert(e.condition === "KINESIS_STREAM_REMOVED")
    assert(Seq(refunds.toString, "allowStreamRemoval").forall(e.getMessage.contains))
  }

  test("a checkpoint of another stream is refused, and the error has both names") {
    val e = refusal(naming(Seq(orders)), offsetOf(refunds))
    assert(e.condition === "KINESIS_OTHER_STREAM")
    assert(Seq(orders, refunds).map(_.toString).forall(e.getMessage.contains))
  }

  test("with allowStreamRemoval a stream is removed, and its last batch can still be read") {
    val streams = naming(Seq(orders), allowRemoval = true)
    val offset = offsetOf(orders, refunds)
    streams.check(offset)
    assert(streams.withoutRemoved(offset) === offsetOf(orders))
    val without = offsetOf(orders)
    assert(streams.withoutRemoved(without) eq without, "once it is gone nothing is to be done")
    assert(streams.access(refunds).ref === StreamRef.ByArn(refunds))
    assert(streams.access(refunds).client.region === "us-east-1")
  }

  test(
    "a later offset with another stream is checked too, because its batch was not committed"
  ) {
    val streams = naming(Seq(orders))
    streams.check(offsetOf(orders))
    assert(refusal(streams, offsetOf(orders, refunds)).condition === "KINESIS_STREAM_REMOVED")
    val again = naming(Seq(orders, refunds))
    again.check(offsetOf(orders))
    val made = offsetOf(orders, refunds)
    val other = made.streams(refunds).copy(created = Instant.ofEpochMilli(7))
    val e = refusal(again, SourceOffset(made.streams + (refunds -> other)))
    assert(e.condition === "KINESIS_STREAM_RECREATED")
  }

  test("the batch that adds or removes streams reads only from streams that stay") {
    val (from, upTo) = (offsetOf(orders), offsetOf(refunds))
    assert(BatchPlanner.ranges(from, upTo).isEmpty)
    val mark = Mark(Progress.After(SequenceNumber("1")), 1, 1, 1)
    val found = Frontier(Vector(mark), Nil, 0, 0)
    val frontiers = Seq(orders, refunds).map(StreamShard(_, shardId(0)) -> found).toMap
    val both = offsetOf(orders, refunds)
    val ranges = BatchPlanner.ranges(both, BatchPlanner.end(both, frontiers, ReadLimits.None))
    assert(ranges.map(_.shard) === Seq(orders, refunds).sorted.map(StreamShard(_, shardId(0))))
  }
}
