package sparkkinesis.source

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{PutResult, ShardFilter, ShardLister}
import sparkkinesis.model.{Position, PutEntry, SequenceNumber, Shard, StreamName, StreamRef}
import sparkkinesis.shard.feed.ShardRangeReader
import sparkkinesis.shard.{
  DataLossException,
  ReadSettings,
  ShardRange,
  SourceException,
  StreamClient
}
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.replay.{BatchReadPlanner, ReadBounds}

/** Batch reads that begin or end at a record that expired or never existed. */
class BatchLossSuite extends AnyFunSuite {
  private val Epoch = Instant.parse("2026-01-01T00:00:00Z")
  private val name = StreamName("orders")

  private class Orders {
    val clock = new SimulatedClock(Epoch)
    private val kinesis = new SimulatedKinesis(clock)
    private val client = StreamClient(StreamRef.ByName(name), kinesis)
    kinesis.createStream(name, 1)
    val shard: Shard = ShardLister
      .list(kinesis, client.ref, ShardFilter.AtLatest)
      .shards
      .head

    def put(count: Int): Seq[SequenceNumber] = {
      val entries = (1 to count).map(n => PutEntry("k", s"k:$n".getBytes, None))
      kinesis.putRecords(client.ref, entries).collect { case PutResult.Written(_, n) => n }
    }

    private def of[A](others: A, named: Option[A]) =
      ByShard(others, named.map(shard.id -> _).toMap)

    def ranges(
        start: Option[Position] = None,
        end: Option[Position] = None,
        failOnDataLoss: Boolean = true
    ): Seq[ShardRange] = {
      val planner = new BatchReadPlanner(
        client,
        of[Position](Position.TrimHorizon, start),
        of[Position](Position.Latest, end),
        ReadBounds(),
        failOnDataLoss,
        clock
      )
      val ranges = planner.ranges()
      planner.awaitPassed()
      ranges
    }

    def read(ranges: Seq[ShardRange], failOnDataLoss: Boolean = true): Seq[SequenceNumber] = {
      val settings = ReadSettings(failOnDataLoss = failOnDataLoss)
      val reader = new ShardRangeReader(client, settings, clock, () => false)
      ranges.flatMap(reader.pages(_).flatMap(_._2.map(_.sequenceNumber)))
    }

    def refusal(condition: String)(ranges: => Any): String = {
      val e = intercept[SourceException](ranges)
      assert(e.condition === condition && e.getMessage.contains("orders"))
      e.getMessage
    }
  }

  test(
    "a start at an expired record is data loss; with failOnDataLoss=false the read returns the rest"
  ) {
    val orders = new Orders
    val old = orders.put(3)
    orders.clock.advance(25.hours)
    val young = orders.put(2)
    Seq(Position.AtSequenceNumber(old(1)), Position.AfterSequenceNumber(old(1))).foreach { start =>
      val message = orders.refusal("KINESIS_DATA_LOSS")(orders.ranges(Some(start)))
      Seq(old(1).text, orders.shard.id.name, "failOnDataLoss").foreach(part =>
        assert(message.contains(part))
      )
      assert(orders.read(orders.ranges(Some(start), failOnDataLoss = false)) === young)
    }
  }

  test("an end at an expired record is data loss; failOnDataLoss=false reads no record") {
    val orders = new Orders
    val old = orders.put(3)
    orders.clock.advance(25.hours)
    orders.put(2)
    val end = Some(Position.AfterSequenceNumber(old(1)))
    orders.refusal("KINESIS_DATA_LOSS")(orders.ranges(end = end))
    val ranges = orders.ranges(end = end, failOnDataLoss = false)
    assert(orders.read(ranges, failOnDataLoss = false) === Nil)
  }

  test("an end at a number without a record is data loss; failOnDataLoss=false ends before it") {
    val orders = new Orders
    val numbers = orders.put(3)
    val between = SequenceNumber((BigInt(numbers(1).text) + 1).toString)
    val end = Some(Position.AfterSequenceNumber(between))
    orders.refusal("KINESIS_DATA_LOSS")(orders.ranges(end = end))
    val ranges = orders.ranges(end = end, failOnDataLoss = false)
    assert(orders.read(ranges, failOnDataLoss = false) === numbers.take(2))
  }

  test("a start at a time after the last record of the end reads no record and loses none") {
    val orders = new Orders
    val numbers = orders.put(1)
    orders.clock.advance(1.hour)
    orders.put(1)
    val end = Some(Position.AfterSequenceNumber(numbers.head))
    def from(instant: Instant) =
      orders.read(orders.ranges(Some(Position.AtTimestamp(instant)), end))
    assert(from(Epoch) === numbers)
    assert(from(Epoch.plusSeconds(60)) === Nil)
  }

  test("a start at a time before the horizon is no loss, nor is one at the shard's lowest number") {
    val orders = new Orders
    orders.put(3)
    orders.clock.advance(25.hours)
    val young = orders.put(2)
    Seq(Position.AtTimestamp(Epoch), Position.AtSequenceNumber(orders.shard.first)).foreach {
      start => assert(orders.read(orders.ranges(Some(start))) === young)
    }
  }

  test("a range that waits for its task longer than the retention period is data loss") {
    val orders = new Orders
    val numbers = orders.put(3)
    val ranges = orders.ranges(Some(Position.AfterSequenceNumber(numbers.head)))
    assert(orders.read(ranges) === numbers.drop(1))
    orders.clock.advance(25.hours)
    val loss = intercept[DataLossException](orders.read(ranges))
    assert(loss.condition === "KINESIS_DATA_LOSS" && loss.getMessage.contains("orders"))
  }

  test("an end in the future, or at another stream's record, is refused") {
    val orders = new Orders
    orders.put(1)
    val future = Some(Position.AtTimestamp(Epoch.plusSeconds(7)))
    val message = orders.refusal("KINESIS_END_IN_FUTURE")(orders.ranges(end = future))
    assert(message.contains(Epoch.plusSeconds(7).toString) && message.contains("in the future"))
    // The number belongs to a shard with the same ID that began a second later.
    val foreign = SequenceNumber((BigInt(orders.shard.first.text) + (BigInt(1) << 148)).toString)
    val start = Some(Position.AtSequenceNumber(foreign))
    assert(orders.refusal("KINESIS_UNKNOWN_POSITION")(orders.ranges(start)).contains(foreign.text))
  }

  test("every end has passed when the plan is complete: the service reports only seconds") {
    val orders = new Orders
    orders.put(1)
    val planned = orders.ranges()
    assert(planned.flatMap(_.until).forall(_.millis <= orders.clock.now.toEpochMilli))
    val before = orders.read(planned)
    orders.put(1)
    assert(orders.read(planned) === before)
  }
}
