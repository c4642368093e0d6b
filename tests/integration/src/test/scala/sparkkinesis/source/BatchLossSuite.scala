package sparkkinesis.source

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.{PutResult, ShardFilter, ShardSnapshot}
import sparkkinesis.model.{PutEntry, SequenceNumber, Shard, StreamName, StreamRef}
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.position.{ByShard, EndingPosition, StartingPosition}
import sparkkinesis.source.protocol.ShardRange
import sparkkinesis.source.replay.{BatchReadPlanner, DescendantReader, ReadBounds, ShardRangeReader}

/** Batch reads that begin or end where nothing can be, or nothing is any more. */
class BatchLossSuite extends AnyFunSuite {
  private val begun = Instant.parse("2026-01-01T00:00:00Z")
  private val name = StreamName("orders")

  private class Orders {
    val clock = new SimulatedClock(begun)
    private val kinesis = new SimulatedKinesis(clock)
    private val client = StreamClient(StreamRef.ByName(name), kinesis)
    kinesis.createStream(name, 1)
    val shard: Shard = ShardSnapshot
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
        start: Option[StartingPosition] = None,
        end: Option[EndingPosition] = None,
        failOnDataLoss: Boolean = true
    ): Seq[ShardRange] =
      new BatchReadPlanner(
        client,
        of[StartingPosition](StartingPosition.TrimHorizon, start),
        of[EndingPosition](EndingPosition.Latest, end),
        ReadBounds.None,
        failOnDataLoss,
        clock,
        () => 0.5
      ).ranges()

    def read(ranges: Seq[ShardRange], failOnDataLoss: Boolean = true): Seq[SequenceNumber] = {
      val settings = SourceOptions
        .parse(Map("streamName" -> "orders", "region" -> "us-east-1"), None)
        .fetch
        .copy(failOnDataLoss = failOnDataLoss)
      val reader = new ShardRangeReader(client, settings, clock, () => 0.5, () => false)
      ranges.flatMap(new DescendantReader(reader).pages(_).flatMap(_._2.map(_.sequenceNumber)))
    }

    def refusal(condition: String)(ranges: => Any): String = {
      val e = intercept[SourceException](ranges)
      assert(e.condition === condition && e.getMessage.contains("orders"))
      e.getMessage
    }
  }

  test(
    "a start at a record that is trimmed is a loss; what is left is read where that is allowed"
  ) {
    val orders = new Orders
    val old = orders.put(3)
    orders.clock.advance(25.hours)
    val young = orders.put(2)
    Seq(StartingPosition.At(old(1)), StartingPosition.After(old(1))).foreach { start =>
      val said = orders.refusal("KINESIS_DATA_LOSS")(orders.ranges(Some(start)))
      Seq(old(1).text, orders.shard.id.name, "failOnDataLoss").foreach(part =>
        assert(said.contains(part))
      )
      assert(orders.read(orders.ranges(Some(start), failOnDataLoss = false)) === young)
    }
  }

  test("an end at a record that is trimmed is a loss; nothing is left to read there") {
    val orders = new Orders
    val old = orders.put(3)
    orders.clock.advance(25.hours)
    orders.put(2)
    val end = Some(EndingPosition.UpTo(old(1)))
    orders.refusal("KINESIS_DATA_LOSS")(orders.ranges(end = end))
    val ranges = orders.ranges(end = end, failOnDataLoss = false)
    assert(orders.read(ranges, failOnDataLoss = false) === Nil)
  }

  test("an end that is no record's number: what lies before it is read where that is allowed") {
    val orders = new Orders
    val numbers = orders.put(3)
    val between = SequenceNumber((BigInt(numbers(1).text) + 1).toString)
    val end = Some(EndingPosition.UpTo(between))
    orders.refusal("KINESIS_DATA_LOSS")(orders.ranges(end = end))
    val ranges = orders.ranges(end = end, failOnDataLoss = false)
    assert(orders.read(ranges, failOnDataLoss = false) === numbers.take(2))
  }

  test("a start by time behind the last record of the end: nothing to read, and no loss") {
    val orders = new Orders
    val numbers = orders.put(1)
    orders.clock.advance(1.hour)
    orders.put(1)
    val end = Some(EndingPosition.UpTo(numbers.head))
    def from(instant: Instant) =
      orders.read(orders.ranges(Some(StartingPosition.AtTimestamp(instant)), end))
    assert(from(begun) === numbers)
    assert(from(begun.plusSeconds(60)) === Nil)
  }

  test("a start by time before the horizon is no loss, nor one at the shard's lowest number") {
    val orders = new Orders
    orders.put(3)
    orders.clock.advance(25.hours)
    val young = orders.put(2)
    Seq(StartingPosition.AtTimestamp(begun), StartingPosition.At(orders.shard.first)).foreach {
      start => assert(orders.read(orders.ranges(Some(start))) === young)
    }
  }

  test("a range that waits for its task beyond the retention is a loss") {
    val orders = new Orders
    val numbers = orders.put(3)
    val ranges = orders.ranges(Some(StartingPosition.After(numbers.head)))
    assert(orders.read(ranges) === numbers.drop(1))
    orders.clock.advance(25.hours)
    val loss = intercept[DataLossException](orders.read(ranges))
    assert(loss.condition === "KINESIS_DATA_LOSS" && loss.getMessage.contains("orders"))
  }

  test("an end in the future, or at another stream's record, is refused") {
    val orders = new Orders
    orders.put(1)
    val future = Some(EndingPosition.Before(begun.plusSeconds(7)))
    val said = orders.refusal("KINESIS_END_IN_FUTURE")(orders.ranges(end = future))
    assert(said.contains(begun.plusSeconds(7).toString) && said.contains("service's clock"))
    // Of a shard of this number that began a second later.
    val foreign = SequenceNumber((BigInt(orders.shard.first.text) + (BigInt(1) << 148)).toString)
    val start = Some(StartingPosition.At(foreign))
    assert(orders.refusal("KINESIS_UNKNOWN_POSITION")(orders.ranges(start)).contains(foreign.text))
  }

  test("every end is over when the plan is made: the service tells its time to the second") {
    val orders = new Orders
    orders.put(1)
    val planned = orders.ranges()
    assert(planned.flatMap(_.until).forall(_.millis <= orders.clock.now.toEpochMilli))
    val before = orders.read(planned)
    orders.put(1)
    assert(orders.read(planned) === before)
  }
}
