package sparkkinesis.source.replay

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{Page, ShardListing}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{HashKey, Position, SequenceNumber, Shard}
import sparkkinesis.shard.{ShardRange, StreamClient}
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.position.ByShard

/** The plan of a batch query from a listing. */
class BatchReadPlannerSuite extends AnyFunSuite {
  private val two = newStream(2)
  private val service = Instant.parse("2026-01-02T03:04:05Z")

  private class Reading(serverTime: Option[Instant], own: Instant, shards: Seq[Shard] = two) {
    val clock = new FastClock
    clock.pass(own.toEpochMilli.millis)
    private val kinesis =
      new ScriptedKinesis().listing(ShardListing(shards, None, serverTime)).summary(summary())

    def planner(
        start: Position = Position.TrimHorizon,
        end: Position = Position.Latest,
        bounds: ReadBounds = ReadBounds(),
        clock: FastClock = clock
    ): BatchReadPlanner =
      new BatchReadPlanner(
        StreamClient(stream, kinesis),
        ByShard(start),
        ByShard(end),
        bounds,
        true,
        clock
      )

    def ranges(
        start: Position = Position.TrimHorizon,
        end: Position = Position.Latest,
        bounds: ReadBounds = ReadBounds()
    ): Seq[ShardRange] = {
      val planned = planner(start, end, bounds)
      val ranges = planned.ranges()
      planned.awaitPassed()
      ranges
    }
  }

  test("the plans of several streams wait at the same time until their ends have passed") {
    val one = new Reading(Some(service), service)
    val planners = Seq(one, new Reading(Some(service), service)).map(_.planner(clock = one.clock))
    planners.foreach(_.ranges())
    planners.foreach(_.awaitPassed())
    assert(one.clock.now === service.plusMillis(1001))
  }

  private def at(text: String) = Instant.parse(s"2026-01-02T$text").toEpochMilli

  test(
    "the end is the service's time a second before the first call, whatever the driver's clock"
  ) {
    def planned(own: String) = {
      val reading = new Reading(Some(service), Instant.parse(s"2026-01-02T$own"))
      val begun = reading.clock.now
      val ends = reading.ranges().flatMap(_.until).map(_.millis).distinct
      (ends, reading.clock.now.toEpochMilli - begun.toEpochMilli)
    }
    assert(planned("03:04:05.400Z") === ((Seq(at("03:04:05.401Z")), 1401)))
    assert(planned("03:04:04Z") === ((Seq(at("03:04:06.001Z")), 2001)))
    assert(planned("09:00:00Z") === ((Seq(at("03:04:06.001Z")), 2001)))
  }

  test("an end in the past causes no wait") {
    val reading = new Reading(Some(service), service)
    val end = Position.AtTimestamp(service.minusSeconds(1))
    assert(
      reading.ranges(end = end).flatMap(_.until).map(_.millis).toSet ===
        Set(at("03:04:04Z"))
    )
    assert(reading.clock.now === service)
  }

  test("a plan has one range per listed shard, and unlisted children are read too") {
    val parent = two.head.copy(last = Some(SequenceNumber("999")))
    val halves = parent.hashKeys.splitAt(HashKey(parent.hashKeys.last.value / 2))
    val children = Seq(halves._1, halves._2).zipWithIndex.map { case (keys, index) =>
      Shard(shardId(2 + index), Seq(parent.id), keys, SequenceNumber("2000000"), None)
    }
    val ranges = new Reading(None, service, parent +: two(1) +: children).ranges()
    assert(ranges.map(_.shard) === (0 to 3).map(shardOf))
    assert(ranges.flatMap(_.until).map(_.withChildren) === Seq(false, true, true, true))
    assert(ranges.forall(it => it.from == Progress.TrimHorizon && it.completeAsOf.isEmpty))
  }

  test("an empty interval is not read") {
    val before = Position.AtTimestamp(service.minusSeconds(9))
    def ranges(start: Instant) =
      new Reading(None, service).ranges(Position.AtTimestamp(start), before)
    assert(ranges(service.minusSeconds(9)) === Nil)
    val owed = ranges(service.minusSeconds(10))
    assert(owed.size === 2 && owed.forall(_.completeAsOf.contains(service.minusSeconds(10))))
  }

  test("a range from a time begins a second earlier, and has only the records since that time") {
    val since = service.minusSeconds(10)
    val ranges = new Reading(None, service).ranges(Position.AtTimestamp(since))
    assert(ranges.forall(_.from == Progress.AtTimestamp(since.minusSeconds(1))))
    assert(ranges.forall(_.sinceMillis.contains(since.toEpochMilli)))
  }

  test("a range from a time to a record is empty if the record arrived more than a second before") {
    val since = Instant.ofEpochMilli(20000)
    def sizes(arrived: Long) = {
      val last = record(5, 1).copy(arrivalMillis = arrived)
      val kinesis = new ScriptedKinesis()
        .listing(ShardListing(newStream(1), None, Some(Instant.ofEpochMilli(90000))))
        .summary(summary())
        .page(Page(Vector(last), None, 0, Nil))
      new BatchReadPlanner(
        StreamClient(stream, kinesis),
        ByShard(Position.AtTimestamp(since)),
        ByShard(Position.AfterSequenceNumber(last.sequenceNumber)),
        ReadBounds(),
        true,
        new FastClock
      ).ranges().size
    }
    assert(sizes(19000) === 1 && sizes(18999) === 0)
  }

  private def bounds(since: Instant, before: Instant) = ReadBounds(
    sinceMillis = Some(since.toEpochMilli),
    beforeMillis = Some(before.toEpochMilli)
  )

  test("the times of a filter narrow a range, with a margin of one minute") {
    val (since, before) = (service.minusSeconds(1000), service.minusSeconds(900))
    val ranges = new Reading(None, service).ranges(bounds = bounds(since, before))
    assert(ranges.forall(_.from == Progress.AtTimestamp(since.minusSeconds(61))))
    assert(ranges.forall(_.completeAsOf.contains(since.minusSeconds(60))))
    assert(ranges.flatMap(_.until).forall(_.millis == before.plusSeconds(60).toEpochMilli))
  }

  test("a filter never widens a range, and never leads to a read in the future") {
    val start = Position.AtTimestamp(service.minusSeconds(10))
    val end = Position.AtTimestamp(service.minusSeconds(5))
    val wide = bounds(service.minusSeconds(1000), service.plusSeconds(1000))
    assert(
      new Reading(None, service).ranges(start, end, wide) ===
        new Reading(None, service).ranges(start, end)
    )
    val future = bounds(service.plusSeconds(1000), service.plusSeconds(1001))
    assert(new Reading(None, service).ranges(bounds = future).size === 2)
  }

  test("shards are left out only if each required shard is listed") {
    def wanted(names: String*) = new Reading(None, service)
      .ranges(bounds = ReadBounds(shards = Some(names.toSet)))
      .map(_.shard)
    assert(wanted(two(1).id.name) === Seq(shardOf(1)))
    assert(wanted(two(1).id.name, shardId(7).name) === Seq(shardOf(0), shardOf(1)))
  }
}
