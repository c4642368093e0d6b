package sparkkinesis.simulator.state

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.{HashKey, Position, PutEntry, StreamName}
import sparkkinesis.simulator.Arguments
import sparkkinesis.simulator.listing.{DescribeLimits, DescribeStream, ListShards, ListStreams}
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.paging.ListFilter
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}

/** The status of a stream during a change, and what it refuses then. */
final class StreamStatusSuite extends AnyFunSuite {
  private val arn = SimulatedKinesis.arn(StreamName("s"))
  private val shard = ShardState.id(0)

  private val slow: Seq[Operation[Any]] = Seq(
    IncreaseStreamRetentionPeriod(arn, 48),
    DecreaseStreamRetentionPeriod(arn, 24),
    UpdateStreamMode(arn, StreamMode.OnDemand),
    UpdateStreamMode(arn, StreamMode.Provisioned),
    UpdateMaxRecordSize(arn, 2048),
    StartStreamEncryption(arn, "KMS", "alias/aws/kinesis"),
    StopStreamEncryption(arn, "KMS"),
    EnableEnhancedMonitoring(arn, ShardMetric.All),
    DisableEnhancedMonitoring(arn, ShardMetric.All),
    UpdateShardCount(arn, 2)
  )

  private val atOnce: Seq[Operation[Any]] =
    Seq(AddTagsToStream(arn, Map("a" -> "b")), RemoveTagsFromStream(arn, Seq("a")))

  private final class Fixture(settings: Settings) {
    val clock = new SimulatedClock(Instant.parse("2026-01-01T00:00:00Z"))
    val kinesis = new SimulatedKinesis(clock, settings)
    run(CreateStream(arn, 1))
    clock.advance(settings.changeTime)

    def run[A](operation: Operation[A]): A =
      kinesis.run(operation).fold(f => fail(s"$operation: $f"), identity)

    def status: String = run(DescribeStreamSummary(arn)).summary.status.toString

    def codeOf(operation: Operation[Any]): ErrorCode = kinesis.run(operation) match {
      case Left(Failure.Refused(code, _)) => code
      case other => fail(s"$operation: $other")
    }
  }

  test("a stream is in status Updating for a while, and refuses changes during that time") {
    val f = new Fixture(Settings(changeTime = 10.seconds))
    slow.foreach { operation =>
      f.run(operation)
      assert(f.status == "Updating", operation)
      (slow ++ atOnce).foreach { other =>
        assert(f.codeOf(other) == ErrorCode.ResourceInUse, other)
      }
      f.run(PutRecord(arn, PutEntry("k", Array.emptyByteArray, None)))
      f.run(ListTagsForStream(arn, None, 1))
      f.clock.advance(10.seconds)
      assert(f.status == "Active", operation)
    }
    atOnce.foreach { operation =>
      f.run(operation)
      assert(f.status == "Active", operation)
    }
  }

  test("records are encrypted as soon as the stream is active again") {
    val f = new Fixture(Settings(changeTime = 10.seconds))
    def put() = f.run(PutRecord(arn, PutEntry("k", Array.emptyByteArray, None))).encryptionType
    assert(put().isEmpty)
    f.run(StartStreamEncryption(arn, "KMS", "alias/aws/kinesis"))
    assert(put().isEmpty)
    f.clock.advance(10.seconds)
    assert(put().contains("KMS"))
    f.run(StopStreamEncryption(arn, "KMS"))
    assert(put().contains("KMS"))
    f.clock.advance(10.seconds)
    assert(put().isEmpty)
  }

  test("for a while listings show the shards before a reshard, and reads follow the new ones") {
    val f = new Fixture(Settings(listLag = 2.seconds))
    def listed = f.run(ListShards(arn, ListFilter.FromTrimHorizon, None, 100)).shards
    def open = f.run(ListShards(arn, ListFilter.AtLatest, None, 100)).shards
    def described = f.run(DescribeStream(arn, None, 100)).shards
    f.clock.advance(1.minute)
    val before = listed
    val tip = f.run(GetShardIterator(arn, shard, Position.Latest))
    f.run(SplitShard(arn, shard, HashKey(1000)))
    f.clock.advance(2.seconds - 1.milli)
    assert(listed == before && open == before && described == before && before.head.isOpen)
    val page = f.run(GetRecords(None, tip, 10))
    assert(page.next.isEmpty && page.children.size == 2)
    page.children.foreach(c => f.run(GetShardIterator(arn, c.id, Position.TrimHorizon)))
    f.clock.advance(1.milli)
    assert(listed.map(_.isOpen) == Seq(false, true, true) && described == listed)
    assert(open.map(_.id) == page.children.map(_.id))
  }

  test("the option --list-lag sets how long listings lag") {
    def lag(args: String*) = Arguments.parse(args.toList).map(_.listLag)
    assert(lag() == Right(Duration.Zero))
    assert(lag("--list-lag", "2s") == Right(2.seconds))
    assert(lag("--list-lag", "200ms") == Right(200.millis))
    Seq("2", "s", "-2s", "2 s", "2h").foreach { wrong =>
      assert(lag("--list-lag", wrong).left.exists(_.contains(s"--list-lag $wrong")), wrong)
    }
  }

  test("a new stream's shards are listed at once") {
    val f = new Fixture(Settings(listLag = 2.seconds))
    assert(f.run(ListShards(arn, ListFilter.FromTrimHorizon, None, 100)).shards.size == 1)
  }

  test("each account and region has its own streams and its own limit of shards") {
    val f = new Fixture(Settings(shardLimit = 2))
    f.run(UpdateShardCount(arn, 2))
    assert(f.codeOf(CreateStream(arn.copy(name = StreamName("t")), 1)) == ErrorCode.LimitExceeded)
    val first = f.run(ListShards(arn, ListFilter.AtLatest, None, 1)).shards.head.id
    assert(f.codeOf(SplitShard(arn, first, HashKey(1000))) == ErrorCode.LimitExceeded)
    assert(f.codeOf(UpdateShardCount(arn, 3)) == ErrorCode.LimitExceeded)
    Seq(arn.copy(account = "111122223333"), arn.copy(region = "eu-west-1")).foreach { other =>
      assert(f.codeOf(DescribeStreamSummary(other)) == ErrorCode.ResourceNotFound)
      f.run(CreateStream(other, 2))
      assert(f.run(DescribeLimits(other.region, other.account)).openShards == 2)
      assert(f.run(ListStreams(other.region, other.account, None, 10)).streams.size == 1)
    }
  }
}
