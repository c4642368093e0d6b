package sparkkinesis.source.simulation

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import scala.concurrent.duration._
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.client.KinesisException
import sparkkinesis.model._
import sparkkinesis.shard.feed.ShardRangeReader
import sparkkinesis.shard.{ReadSettings, ShardRange, StreamClient}
import sparkkinesis.simulator.DrawnBehaviour
import sparkkinesis.simulator.fault.Faults
import sparkkinesis.simulator.service.{SimulatedClock, SimulatedKinesis}
import sparkkinesis.simulator.state.Settings
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.replay.{BatchReadPlanner, ReadBounds}
import sparkkinesis.spark.read.task.RecordRow
import sparkkinesis.{Repeated, SeededHistories, Steps, TestScope}

/**
 * Batch reads over seeded histories with splits, merges, late listings and failing calls: each
 * attempt returns exactly the records between start and end. `SEED=n` replays one history.
 */
class BatchReadSimulation extends AnyFunSuite with SeededHistories {
  private def eachPast(count: Int)(check: Past => Int): Unit = {
    val rows = each(count) { seed =>
      val past = new Past(seed)
      val rows = check(past)
      countTime(past.clock)
      rows
    }
    info(s"${rows.size} histories, ${rows.sum} rows")
    TestScope.ofFixed(rows).foreach(it => assert(it.sum > 0))
  }

  /** A stream with records and reshards. */
  private final class Past(seed: Long) {
    val random = new Random(seed)
    private val beginning = Instant.parse("2026-01-01T00:00:00Z")
    val clock = new SimulatedClock(beginning, () => random.nextDouble())
    private val listLag = Seq(0, 2000)(random.nextInt(2)).millis
    private val chaos = Faults.seeded(seed, random.nextDouble() * 0.2)
    private var isQuiet = true
    private val behaviour = DrawnBehaviour(seed + 4)
    private val kinesis = new SimulatedKinesis(
      clock,
      Settings(listLag = listLag, behaviour = behaviour),
      operation => if (isQuiet) None else chaos(operation)
    )
    private val isScaled = behaviour.reshardInterval > Duration.Zero
    private val producer =
      new Producer(kinesis, clock, random, StreamName("orders"), isScaled = isScaled)
    private val client = StreamClient(producer.stream, kinesis)
    private val settings = ReadSettings(maxRecords = 1 + random.nextInt(30))

    for (_ <- 0 until Steps(random.nextInt(40))) {
      clock.advance(listLag + random.nextInt(5000).millis)
      producer.actAtRandom()
    }
    for (_ <- 0 until Steps(random.nextInt(6))) actSoon()

    /** A time at which listings are still late. */
    private def actSoon(): Unit =
      try producer.actAtRandom()
      catch { case _: KinesisException => clock.advance(1.milli) }

    def anyTime(): Instant =
      beginning.plusMillis(
        random.nextInt((clock.now.toEpochMilli - beginning.toEpochMilli).toInt + 1).toLong
      )

    /** The numbers of each key's records that arrived at or after one time and before the other. */
    def written(from: Instant, before: Instant): Map[String, Set[Int]] = {
      def by(time: Instant) = producer.writtenBy(time.toEpochMilli - 1)
      by(before).map { case (key, numbers) => key -> numbers.diff(by(from)(key)).toSet }
    }

    def now: Instant = clock.now

    /** Waits until listings are up to date. */
    def settle(): Unit = {
      producer.settle()
      clock.advance(listLag)
    }

    def plan(
        start: ByShard[Position],
        end: ByShard[Position],
        bounds: ReadBounds = ReadBounds()
    ): Seq[ShardRange] = {
      val planner = new BatchReadPlanner(client, start, end, bounds, true, clock)
      val ranges = planner.ranges()
      planner.awaitPassed()
      ranges
    }

    /** Reads the tasks in a random order, while producers write and calls fail. */
    def read(ranges: Seq[ShardRange]): Map[ShardId, Vector[Numbered]] = {
      val rows = random.shuffle(ranges).flatMap { range =>
        if (random.nextInt(3) == 0) actSoon()
        isQuiet = false
        try {
          val reader =
            new ShardRangeReader(client, settings, clock, () => false)
          reader.pages(range).flatMap { case (shard, page) => rowsOf(shard, page) }.toVector
        } finally isQuiet = true
      }
      val shards = rows.groupBy(_.row.shard.shard).map { case (id, all) => id -> all.toVector }
      shards.foreach { case (shard, all) =>
        val numbers = all.map(_.number)
        require(numbers == numbers.sorted, s"$shard is out of order")
        require(all == all.distinct, s"$shard returned a record twice")
      }
      shards
    }

    /** The rows that a task makes of a page. */
    private def rowsOf(shard: StreamShard, page: PackedRecords): Vector[Numbered] = {
      val row = new RecordRow(deaggregate = true)
      row.read(shard, page)
      Iterator
        .continually(row)
        .takeWhile(_.next())
        .map { row =>
          val text = Row(shard, new String(row.getBinary(DataColumn), UTF_8))
          Numbered(SequenceNumber(row.getUTF8String(NumberColumn).toString), text)
        }
        .toVector
    }
  }

  private val DataColumn = RecordRow.Schema.fieldIndex("data")
  private val NumberColumn = RecordRow.Schema.fieldIndex("sequenceNumber")

  private def keys(rows: Map[ShardId, Vector[Numbered]]): Map[String, Set[Int]] =
    rows.values.flatten.map(_.row).groupBy(_.key).map { case (key, all) =>
      key -> all.map(_.number).toSet
    }

  private def withoutNone(keys: Map[String, Set[Int]]) = keys.filter(_._2.nonEmpty)

  private def ordered[A](one: A, other: A)(implicit ordering: Ordering[A]): (A, A) =
    (ordering.min(one, other), ordering.max(one, other))

  private def everywhere(position: Position) = ByShard[Position](position)

  test(
    "a read from one time to another has each record between them once, in every attempt",
    Repeated
  ) {
    eachPast(300) { batch =>
      val (from, before) = ordered(batch.anyTime(), batch.anyTime())
      val isToNow = batch.random.nextBoolean()
      val end = if (isToNow) Position.Latest else Position.AtTimestamp(before)
      val expected = batch.written(from, if (isToNow) batch.now.plusMillis(1) else before)
      val ranges =
        batch.plan(everywhere(Position.AtTimestamp(from)), ByShard[Position](end))
      val rows = batch.read(ranges)
      assert(keys(rows) === withoutNone(expected))
      assert(batch.read(ranges) === rows, "another attempt")
      rows.values.map(_.size).sum
    }
  }

  test("a read may go from one record to another in some of the shards", Repeated) {
    eachPast(200) { batch =>
      val horizon = everywhere(Position.TrimHorizon)
      val all = batch.read(batch.plan(horizon, ByShard[Position](Position.Latest)))
      batch.settle()
      val now = Position.AtTimestamp(batch.now)
      val before = batch.read(batch.plan(horizon, ByShard[Position](now)))
      val chosen = before.filter(_ => batch.random.nextBoolean()).map { case (shard, rows) =>
        def any() = batch.random.nextInt(rows.size)
        val (first, last) = ordered(any(), any())
        (shard, rows, first, last, batch.random.nextBoolean())
      }
      val starts = chosen.map { case (shard, rows, first, _, isAt) =>
        val number = rows(first).number
        shard -> (if (isAt) Position.AtSequenceNumber(number)
                  else Position.AfterSequenceNumber(number))
      }
      val ends = chosen.map { case (shard, rows, _, last, _) =>
        shard -> Position.AfterSequenceNumber(rows(last).number)
      }
      val rows = batch.read(
        batch.plan(
          ByShard[Position](Position.TrimHorizon, starts.toMap),
          ByShard[Position](now, ends.toMap)
        )
      )
      val expected = chosen.foldLeft(before) { case (all, (shard, rows, first, last, isAt)) =>
        val (begin, end) = (rows(first).number, rows(last).number)
        def isBehind(it: Numbered) = it.number > begin || isAt && it.number == begin
        all.updated(shard, rows.filter(it => isBehind(it) && it.number <= end))
      }
      assert(rows === expected.filter(_._2.nonEmpty))
      all.values.map(_.size).sum
    }
  }

  test("the times of a filter exclude no record that matches it", Repeated) {
    eachPast(100) { batch =>
      val (from, before) = ordered(batch.anyTime(), batch.anyTime())
      val bounds = ReadBounds(
        sinceMillis = Some(from.toEpochMilli),
        beforeMillis = Some(before.toEpochMilli)
      )
      val rows = batch.read(
        batch.plan(
          everywhere(Position.TrimHorizon),
          ByShard[Position](Position.Latest),
          bounds
        )
      )
      batch.written(from, before).foreach { case (key, numbers) =>
        assert(numbers.diff(keys(rows).getOrElse(key, Set.empty)).isEmpty)
      }
      rows.values.map(_.size).sum
    }
  }
}

/** @param number of the Kinesis record that contains the row */
final case class Numbered(number: SequenceNumber, row: Row)
