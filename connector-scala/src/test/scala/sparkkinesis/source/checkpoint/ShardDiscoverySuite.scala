package sparkkinesis.source.checkpoint

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.model.{HashKeyRange, Position, SequenceNumber}
import sparkkinesis.shard.{SourceException, StreamClient}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis
import sparkkinesis.source.ScriptedKinesis.{listing, summary}
import sparkkinesis.source.position.ByShard
import sparkkinesis.spark.LogTap

class ShardDiscoverySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val two = newStream(2)

  private def begin(
      kinesis: ScriptedKinesis,
      start: Position = Position.TrimHorizon,
      clock: FastClock = new FastClock
  ): StreamOffset =
    ShardDiscovery.initialOffset(StreamClient(stream, kinesis), ByShard(start), clock)

  private val skews = Table(
    ("driver", "service, to the second", "taken"),
    ("2026-01-01T00:00:05.400Z", None, "2026-01-01T00:00:05.400Z"),
    ("2026-01-01T00:00:05.400Z", Some("2026-01-01T00:00:05Z"), "2026-01-01T00:00:05.400Z"),
    ("2026-01-01T00:00:05Z", Some("2026-01-01T00:00:05Z"), "2026-01-01T00:00:05Z"),
    ("2026-01-01T00:00:05.999Z", Some("2026-01-01T00:00:05Z"), "2026-01-01T00:00:05.999Z"),
    ("2026-01-01T00:00:06Z", Some("2026-01-01T00:00:05Z"), "2026-01-01T00:00:05Z"), // ahead
    ("2026-01-01T09:00:00Z", Some("2026-01-01T00:00:05Z"), "2026-01-01T00:00:05Z"),
    ("2026-01-01T00:00:04.999Z", Some("2026-01-01T00:00:05Z"), "2026-01-01T00:00:05Z"), // behind
    ("2026-01-01T00:00:05.123456Z", None, "2026-01-01T00:00:05.123Z")
  )

  test("the service's clock is used if the driver's clock is wrong") {
    forAll(skews) { (own, service, taken) =>
      val now = ShardDiscovery.serviceNow(Instant.parse(own), service.map(Instant.parse))
      assert(now === Instant.parse(taken))
    }
  }

  test("an end is later than every record that has arrived, also by the service's clock") {
    def atLatest(own: String, service: Option[String]) =
      ShardDiscovery.serviceNowAtLatest(Instant.parse(own), service.map(Instant.parse)).toString
    val service = Some("2026-01-01T00:00:05Z")
    assert(atLatest("2026-01-01T00:00:05.400Z", service) === "2026-01-01T00:00:05.400Z")
    assert(atLatest("2026-01-01T00:00:04.999Z", service) === "2026-01-01T00:00:06Z")
    assert(atLatest("2026-01-01T09:00:00Z", service) === "2026-01-01T00:00:06Z")
    assert(atLatest("2026-01-01T09:00:00.123Z", None) === "2026-01-01T09:00:00.123Z")
  }

  test("a start at a time owes the records since then, unless they may have been trimmed") {
    def owed(at: Instant) = {
      val clock = new FastClock
      clock.pass(scala.concurrent.duration.DurationInt(100).hours)
      val kinesis = new ScriptedKinesis().summary(summary()).listing(listing(two: _*))
      begin(kinesis, Position.AtTimestamp(at), clock).shards.values
        .map(_.completeAsOf)
        .toSet
    }
    val horizon = Instant.EPOCH.plusSeconds(76 * 3600)
    assert(owed(horizon.plusMillis(1)) === Set(Some(horizon.plusMillis(1))))
    assert(owed(horizon) === Set(None) && owed(Instant.EPOCH) === Set(None))
  }

  test("the service's time is never in the future, nor more than a second in the past") {
    forAll(instant, instant) { (own, service) =>
      val told = Instant.ofEpochSecond(service.getEpochSecond)
      val now = ShardDiscovery.serviceNow(own, Some(told))
      assert(!now.isBefore(told) && now.isBefore(told.plusSeconds(1)))
    }
  }

  test("latest becomes the time after the listing, for the open shards") {
    val clock = new FastClock
    val kinesis = new ScriptedKinesis().summary(summary()).listing {
      clock.pass(scala.concurrent.duration.DurationInt(700).millis)
      listing(two: _*)
    }
    val offset = begin(kinesis, Position.Latest, clock)
    val at = Progress.AtTimestamp(Instant.ofEpochMilli(700))
    val complete = Some(Instant.ofEpochMilli(700))
    assert(offset.shards === two.map(_.id -> ShardProgress(at, Set.empty, complete)).toMap)
    assert(offset.stream === arn)
    assert(kinesis.listed === Seq(ListShardsRequest.First(stream, ShardFilter.AtLatest)))
  }

  test("a start in the service's future is refused") {
    val kinesis = new ScriptedKinesis().summary(summary()).listing(listing(two: _*))
    val refused = intercept[SourceException] {
      begin(kinesis, Position.AtTimestamp(Instant.ofEpochMilli(1)))
    }
    assert(refused.condition === "KINESIS_START_IN_FUTURE")
  }

  test(
    "a start at the beginning or at a time has all shards, which wait for their listed " +
      "parents"
  ) {
    forAll(shardGraph) { graph =>
      val listed = graph.drop(1)
      whenever(ListingHole.ofTips(listed).isEmpty) {
        val at = Instant.ofEpochMilli(-77)
        Seq(
          Position.TrimHorizon -> Progress.TrimHorizon,
          Position.AtTimestamp(at) -> Progress.AtTimestamp(at)
        ).foreach { case (start, progress) =>
          val kinesis = new ScriptedKinesis()
            .summary(summary())
            .listing(listing(listed: _*))
            .page(throw ScriptedKinesis.Gone)
          val offset = begin(kinesis, start)
          val owed = Some(at).filter(_ => start != Position.TrimHorizon)
          assert(offset.shards === listed.map { shard =>
            val parents = shard.parents.toSet - graph.head.id
            shard.id -> ShardProgress(progress, parents, owed)
          }.toMap)
          assert(
            kinesis.listed.head === ListShardsRequest.First(stream, ShardFilter.FromTrimHorizon)
          )
        }
      }
    }
  }

  private def of(kinesis: ScriptedKinesis, named: (Int, Position)*): StreamOffset = {
    val start = ByShard(
      Position.Latest,
      named.map { case (id, position) => shardId(id) -> position }.toMap
    )
    ShardDiscovery.initialOffset(
      StreamClient(stream, kinesis),
      start,
      new FastClock
    )
  }

  test("shards start at their own positions, after one listing of all shards") {
    val number = SequenceNumber("1000007")
    val found = ScriptedKinesis.recordsOf(1000007 to 1000007)
    val kinesis = new ScriptedKinesis()
      .summary(summary())
      .listing(listing(two: _*))
      .page(Page(found, Some(ShardIterator("next")), 5, Nil))
    val offset = of(kinesis, 1 -> Position.AfterSequenceNumber(number))
    val complete = Some(Instant.ofEpochMilli(10000070))
    assert(
      offset.shards(shardId(1)) === ShardProgress(Progress.After(number), Set.empty, complete)
    )
    assert(
      offset.shards(shardId(0)).progress === Progress.AtTimestamp(Instant.EPOCH),
      "all others at *"
    )
    assert(kinesis.listed === Seq(ListShardsRequest.First(stream, ShardFilter.FromTrimHorizon)))
    assert(kinesis.positions === Seq(Position.AtSequenceNumber(number)))
  }

  test("if a quota refuses to look a start's record up for long, the query does not start") {
    val kinesis = new ScriptedKinesis().summary(summary()).listing(listing(two: _*))
    (1 to 27).foreach(_ => kinesis.page(throw ScriptedKinesis.Throttled))
    def start = of(kinesis, 1 -> Position.AfterSequenceNumber(SequenceNumber("1000007")))
    kinesis.page(throw new KinesisException.Throttled("the last one"))
    assert(intercept[KinesisException.Throttled](start).getMessage.contains("the last one"))
  }

  test("a start at an expired record uses the next record, and logs that") {
    def kinesis = new ScriptedKinesis()
      .summary(summary())
      .listing(listing(two: _*))
      .page(ScriptedKinesis.page(8 to 7))
      .page(ScriptedKinesis.page(9 to 9))
      .page(ScriptedKinesis.page(9 to 9)) // the second look
    val number = SequenceNumber("7")
    val heard = LogTap.of(classOf[ShardStarts]) {
      val offset = of(kinesis, 0 -> Position.AtSequenceNumber(number))
      assert(offset.shards(shardId(0)) === ShardProgress(Progress.From(number), Set.empty, None))
    }
    val said = heard.map(_.getMessage.getFormattedMessage).mkString
    Seq(shardId(0).name, stream.toString, "no record 7", "24 hours", "at the next record").foreach {
      text => assert(said.contains(text))
    }
  }

  test("a start before the trim horizon logs the stream, the start and the horizon") {
    val clock = new FastClock
    clock.pass(scala.concurrent.duration.DurationInt(100).hours)
    val kinesis = new ScriptedKinesis().summary(summary()).listing(listing(two: _*))
    val heard = LogTap.of(classOf[ShardStarts]) {
      begin(kinesis, Position.AtTimestamp(Instant.EPOCH), clock)
    }
    val said = heard.map(_.getMessage.getFormattedMessage).mkString
    Seq(stream.toString, "1970-01-01T00:00:00Z", "1970-01-04T04:00:00Z").foreach(text =>
      assert(said.contains(text))
    )
  }

  private val impossible = Table(
    ("shard", "position", "condition", "message holds"),
    (7, Position.Latest, "KINESIS_UNKNOWN_SHARD", "does not list"),
    (
      1,
      Position.AtSequenceNumber(SequenceNumber("7")),
      "KINESIS_UNKNOWN_POSITION",
      "its sequence numbers begin at 1000000"
    )
  )

  test("a shard that is not listed, or a sequence number outside its shard, is refused") {
    forAll(impossible) { (id, position, condition, text) =>
      val kinesis = new ScriptedKinesis().summary(summary()).listing(listing(two: _*))
      val e = intercept[SourceException](of(kinesis, id -> position))
      assert(e.condition === condition && e.getMessage.contains(text))
      assert(e.getMessage.contains(shardId(id).name))
    }
  }

  test("every page of the listing is read") {
    val kinesis = new ScriptedKinesis()
      .summary(summary())
      .listing(ShardListing(two.take(1), Some("more"), None))
      .listing(listing(two.drop(1): _*))
    assert(begin(kinesis).shards.keySet === two.map(_.id).toSet)
    assert(kinesis.listed.last === ListShardsRequest.Next(stream, "more"))
  }

  test("the shards of a graph cover all hash keys, and without one open shard they do not") {
    forAll(shardGraph) { graph =>
      assert(ListingHole.ofTips(graph).isEmpty)
      assert(ListingHole.ofTips(graph.filter(_.isOpen)).isEmpty)
      graph.filter(_.isOpen).foreach { missing =>
        val hole = ListingHole.ofTips(graph.filter(_.isOpen).filterNot(_ == missing))
        assert(hole.hashKeys === Seq(missing.hashKeys))
      }
    }
    assert(ListingHole.ofTips(Nil).hashKeys === Seq(HashKeyRange.All))
  }

  test("an incomplete listing is repeated after a pause") {
    val clock = new FastClock
    val kinesis = new ScriptedKinesis()
      .summary(summary())
      .listing(listing(two.take(1): _*))
      .listing(listing(two: _*))
    assert(begin(kinesis, clock = clock).shards.size === 2)
    assert(clock.now.toEpochMilli === 250)
  }

  private val parent = two.head.copy(last = Some(SequenceNumber("99")))
  private val child = parent.copy(id = shardId(7), parents = Seq(parent.id), last = None)

  test("a parent that is not listed although it has records is waited for, and then refused") {
    val late = new ScriptedKinesis()
      .summary(summary())
      .listing(listing(two(1), child))
      .page(ScriptedKinesis.page(1 to 0))
      .page(ScriptedKinesis.page(1 to 1))
      .listing(listing(parent, two(1), child))
    val found = begin(late).shards
    assert(found(child.id).waitsFor === Set(parent.id) && found.contains(parent.id))
    val never = new ScriptedKinesis().summary(summary())
    (1 to 5).foreach { _ =>
      never.listing(listing(two(1), child)).page(ScriptedKinesis.page(1 to 1))
    }
    val e = intercept[SourceException](begin(never))
    assert(e.condition === "KINESIS_INCOMPLETE_SHARD_LIST")
    assert(e.getMessage.contains(parent.id.name))
  }

  test("a parent that is gone, or has no record left, holds nobody back") {
    val gone = new ScriptedKinesis()
      .summary(summary())
      .listing(listing(two(1), child))
      .page(throw ScriptedKinesis.Gone)
    assert(begin(gone).shards(child.id).waitsFor.isEmpty)
    val empty = new ScriptedKinesis()
      .summary(summary())
      .listing(listing(two(1), child))
      .page(ScriptedKinesis.end(1 to 0))
    assert(begin(empty).shards(child.id).waitsFor.isEmpty)
  }

  test("of many parents that are not listed, the newest that is gone is asked for alone") {
    val grown = (10 to 500).map(id => child.copy(id = shardId(id), parents = Seq(shardId(id - 8))))
    val kinesis = new ScriptedKinesis()
      .summary(summary())
      .listing(listing((two(1) +: child +: grown): _*))
      .page(throw ScriptedKinesis.Gone)
    begin(kinesis)
    assert(kinesis.positions.size === 1)
  }

  test("a listing that stays incomplete is refused, and the error names the stream") {
    val kinesis = new ScriptedKinesis().summary(summary())
    (1 to 9).foreach(_ => kinesis.listing(listing(two.take(1): _*)))
    val e = intercept[SourceException](begin(kinesis))
    assert(e.condition === "KINESIS_INCOMPLETE_SHARD_LIST" && kinesis.listed.size === 5)
    assert(e.getMessage.contains(stream.toString) && e.getMessage.contains("5 attempts"))
  }
}
