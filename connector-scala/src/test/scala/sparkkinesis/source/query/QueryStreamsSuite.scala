package sparkkinesis.source.query

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._
import scala.util.{Failure, Success}

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.Moment
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{SequenceNumber, StreamArn, StreamName, StreamRef, StreamShard}
import sparkkinesis.shard.{ServiceTime, SourceException}
import sparkkinesis.source.ScriptedKinesis.{Created, summary}
import sparkkinesis.source.checkpoint.DescribedStream
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}

/** Streams that are added to a query and removed from it between runs. */
class QueryStreamsSuite extends AnyFunSuite {
  private val orders = arn
  private val refunds = arn.copy(region = "us-east-1", name = StreamName("refunds"))
  private val now = Moment(Instant.EPOCH, Instant.EPOCH)

  private def beginning(arn: StreamArn) = {
    val shard = shardId(0) -> ShardProgress(Progress.TrimHorizon, Set.empty)
    StreamOffset(arn, Created, SortedMap(shard))
  }

  private def offsetOf(arns: StreamArn*) = SourceOffset.of(arns.map(beginning))

  /** A query that names these streams. */
  private def naming(arns: Seq[StreamArn], allowRemoval: Boolean = false): QueryStreams = {
    val named = Map("streamArn" -> arns.mkString(","), "allowStreamRemoval" -> s"$allowRemoval")
    val options = SourceOptions.parse(named, None)
    val described = options.streams.zip(arns).map { case (access, arn) =>
      DescribedStream(access, summary(stream = arn), new ServiceTime)
    }
    new QueryStreams(options, described, () => 0.5)
  }

  private def refusal(streams: QueryStreams, offset: SourceOffset): SourceException =
    intercept[SourceException](streams.check(offset, now))

  test("if the query names the checkpoint's streams, in any order, none is added or removed") {
    val streams = naming(Seq(refunds, orders))
    val offset = offsetOf(orders, refunds)
    streams.check(offset, now)
    assert(streams.withoutRemoved(offset) eq offset)
    assert(streams.join(offset).isEmpty && streams.withJoined(offset).exists(_ eq offset))
    assert(streams.access.keySet === Set(orders, refunds))
    assert(streams.access(refunds).client.region === "us-east-1")
  }

  test("a stream that is added starts where the option says, which is asked once per run") {
    val streams = naming(Seq(orders, refunds))
    val offset = offsetOf(orders)
    streams.check(offset, now)
    assert(streams.withoutRemoved(offset) eq offset)
    assert(streams.join(offset) === Vector(Command.Begin(refunds)))
    assert(streams.join(offset).isEmpty && streams.withJoined(offset).isEmpty)
    streams.begun(refunds, Success(beginning(refunds)))
    val elsewhere = beginning(refunds).copy(shards = SortedMap.empty)
    Seq(Success(elsewhere), Failure(new Exception)).foreach { again =>
      streams.begun(refunds, again)
      assert(streams.withJoined(offset) === Some(offsetOf(orders, refunds)))
      assert(streams.join(offset).isEmpty)
    }
  }

  test("a query waits until each of its new streams has begun") {
    val streams = naming(Seq(orders, refunds))
    val none = SourceOffset.of(Nil)
    assert(streams.join(none).toSet === Set(Command.Begin(orders), Command.Begin(refunds)))
    streams.begun(refunds, Success(beginning(refunds)))
    assert(streams.withJoined(none).isEmpty)
    streams.begun(orders, Success(beginning(orders)))
    assert(streams.withJoined(none) === Some(offsetOf(orders, refunds)))
  }

  test("a stream that cannot begin fails the query with the reason") {
    val streams = naming(Seq(orders, refunds))
    streams.join(offsetOf(orders))
    val cause = new SourceException("KINESIS_INCOMPLETE_SHARD_LIST", "Wait.")
    streams.begun(refunds, Failure(cause))
    assert(intercept[SourceException](streams.withJoined(offsetOf(orders))) eq cause)
  }

  test("an idle query confirms by the retention periods as they were described last") {
    val streams = naming(Seq(orders, refunds))
    def describe(stream: StreamArn, retention: FiniteDuration) =
      streams.described(stream, Success(summary(stream = stream, retention = retention)), now)
    assert(streams.confirmationPeriod === 90.minutes)
    Seq(orders, refunds).foreach(describe(_, 168.hours))
    assert(streams.confirmationPeriod === 630.minutes)
    describe(orders, 48.hours)
    assert(streams.confirmationPeriod === 180.minutes)
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
    streams.check(offset, now)
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
    streams.check(offsetOf(orders), now)
    assert(refusal(streams, offsetOf(orders, refunds)).condition === "KINESIS_STREAM_REMOVED")
    val again = naming(Seq(orders, refunds))
    again.check(offsetOf(orders), now)
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
