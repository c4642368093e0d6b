package sparkkinesis.simulator.listing

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{KinesisException, ShardIterator}
import sparkkinesis.model.{HashKey, Position, ShardId, StreamName, StreamRef}
import sparkkinesis.simulator.operation.{
  CreateStream,
  DeleteStream,
  DescribeStreamSummary,
  GetShardIterator,
  SplitShard
}
import sparkkinesis.simulator.paging.ListFilter
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.{ErrorCode, Failure, Settings, ShardState}

/** Filters, tokens and retention, on a shard split after an hour and merged after two. */
final class ListShardsSuite extends AnyFunSuite {
  private val start = Instant.parse("2026-01-01T00:00:00Z")
  private val name = StreamName("s")
  private val arn = SimulatedKinesis.arn(name)

  private final class Fixture {
    val clock = new SimulatedClock(start)
    val kinesis = new SimulatedKinesis(clock)
    kinesis.createStream(name, 1)
    clock.advance(1.hour)
    kinesis.splitShard(name, id(0), HashKey(1000))
    clock.advance(1.hour)
    kinesis.mergeShards(name, id(1), id(2))

    def list(filter: ListFilter, after: Option[ShardId] = None, limit: Int = 100): ListShardsPage =
      kinesis.run(ListShards(arn, filter, after, limit)).fold(f => fail(f.toString), identity)

    def ids(filter: ListFilter): Seq[Int] =
      list(filter).shards.map(_.id).map(ShardState.number(_).get)
  }

  private def id(number: Int): ShardId = ShardState.id(number)

  private def at(minutes: Int): Instant = start.plusSeconds(minutes * 60L)

  test("a filter includes the shards that were open at its time or later") {
    val f = new Fixture
    assert(f.ids(ListFilter.FromTrimHorizon) == Seq(0, 1, 2, 3))
    assert(f.ids(ListFilter.AtTrimHorizon) == Seq(0))
    assert(f.ids(ListFilter.AtLatest) == Seq(3))
    assert(f.ids(ListFilter.AfterShardId(id(1))) == Seq(2, 3))
    assert(f.ids(ListFilter.AtTimestamp(at(30))) == Seq(0))
    assert(f.ids(ListFilter.AtTimestamp(at(90))) == Seq(1, 2))
    assert(f.ids(ListFilter.AtTimestamp(at(120))) == Seq(3))
    assert(f.ids(ListFilter.FromTimestamp(at(90))) == Seq(1, 2, 3))
    assert(f.ids(ListFilter.FromTimestamp(at(-90))) == Seq(0, 1, 2, 3))
  }

  test("AT_TIMESTAMP is limited to the time between the trim horizon and now") {
    val f = new Fixture
    Seq(at(-23 * 60), at(121)).foreach { instant =>
      val answer = f.kinesis.run(ListShards(arn, ListFilter.AtTimestamp(instant), None, 10))
      answer match {
        case Left(Failure.Refused(code, _)) => assert(code == ErrorCode.InvalidArgument)
        case other => fail(s"$instant: $other")
      }
    }
  }

  test("a page token keeps the filter and expires after five minutes") {
    val f = new Fixture
    val first = f.list(ListFilter.AfterShardId(id(0)), limit = 2)
    assert(first.shards.map(_.id) == Seq(id(1), id(2)))
    val more = ListMoreShards(first.nextToken.get, 2)
    f.clock.advance(5.minutes)
    assert(f.kinesis.run(more).map(_.shards.map(_.id)) == Right(Seq(id(3))))
    f.clock.advance(1.milli)
    assert(f.kinesis.run(more).swap.exists {
      case Failure.Refused(code, _) => code == ErrorCode.ExpiredNextToken
      case Failure.NoAnswer => false
    })
  }

  test("a closed shard disappears when all of its records and iterators have expired") {
    val f = new Fixture
    f.clock.advance(23.hours)
    assert(f.ids(ListFilter.FromTrimHorizon) == Seq(0, 1, 2, 3))
    val iterator: ShardIterator =
      f.kinesis.shardIterator(StreamRef.ByName(name), id(0), Position.TrimHorizon)
    f.clock.advance(1.milli)
    assert(f.ids(ListFilter.FromTrimHorizon) == Seq(1, 2, 3))
    intercept[KinesisException.NotFound](
      f.kinesis.getRecords(StreamRef.ByName(name), iterator, 1)
    )
    intercept[KinesisException.NotFound](
      f.kinesis.shardIterator(StreamRef.ByName(name), id(0), Position.TrimHorizon)
    )
  }

  test("a change of a stream takes the time of the setting changeTime") {
    val clock = new SimulatedClock(start)
    val kinesis = new SimulatedKinesis(clock, Settings(changeTime = 10.seconds))
    def status = kinesis.run(DescribeStreamSummary(arn)).map(_.summary.status.toString)
    kinesis.run(CreateStream(arn, 1))
    assert(status == Right("Creating"))
    assert(kinesis.run(GetShardIterator(arn, id(0), Position.Latest)).isLeft)
    clock.advance(10.seconds)
    assert(status == Right("Active"))
    kinesis.run(SplitShard(arn, id(0), HashKey(1000)))
    assert(status == Right("Updating"))
    assert(kinesis.run(SplitShard(arn, id(1), HashKey(500))).isLeft)
    assert(kinesis.run(GetShardIterator(arn, id(0), Position.Latest)).isRight)
    clock.advance(10.seconds)
    kinesis.run(DeleteStream(arn))
    assert(status == Right("Deleting"))
    clock.advance(10.seconds)
    assert(status.isLeft)
    assert(kinesis.run(CreateStream(arn, 1)).isRight)
  }
}
