package sparkkinesis.source.plan

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{ArrivalTimes, PackedRecords, Record, SequenceNumber, StreamShard}
import sparkkinesis.shard.ReadSettings
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}

class ShardSkewSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val skew = 60.seconds

  private def settings(limits: ReadLimits, skew: FiniteDuration) =
    FetchSettings(
      ReadSettings(100, 200.millis, 1.second),
      bufferBytes = Some(1000000),
      spillBytes = 0,
      limits = limits,
      maxShardSkew = Some(skew)
    )

  private def recordAt(number: Int, millis: Long): Record =
    record(number.toLong, 1).copy(arrivalMillis = millis)

  private def after(number: Int): Progress = Progress.After(SequenceNumber(number.toString))

  /** The marks of one page with these arrival times, after so many earlier records. */
  private def marks(
      arrivals: Seq[Long],
      limits: ReadLimits = ReadLimits.None,
      earlier: Int = 0,
      skew: FiniteDuration = skew
  ): Vector[Mark] = {
    val records = PackedRecords(arrivals.zipWithIndex.map { case (millis, index) =>
      recordAt(earlier + index + 1, millis)
    }.toVector)
    val ends = if (arrivals.isEmpty) Vector.empty else settings(limits, skew).marks(records)
    ends.zip(-1 +: ends).map { case (last, before) =>
      val size = (last - before).toLong
      Mark(after(earlier + last + 1), size, size, arrivals.slice(before + 1, last + 1).max)
    }
  }

  private def offsetOf(shards: (Int, ShardProgress)*): SourceOffset = SourceOffset.of(
    Seq(
      StreamOffset(
        arn,
        Instant.EPOCH,
        SortedMap.from(shards.map { case (id, shard) => shardId(id) -> shard })
      )
    )
  )

  private def start(count: Int): SourceOffset =
    offsetOf((0 until count).map(_ -> ShardProgress(Progress.TrimHorizon, Set.empty)): _*)

  private def behind(arrivals: Long*): Frontier =
    Frontier(marks(arrivals), Nil, 1000, arrivals.lastOption.getOrElse(0L))

  private def end(
      from: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      limits: ReadLimits = ReadLimits.None,
      skew: FiniteDuration = skew
  ): SourceOffset =
    BatchPlanner.end(from, ShardSkew.limited(from, frontiers, limits, skew)._1, limits)

  private def read(offset: SourceOffset, shard: Int): Progress =
    offset.streams(arn).shards(shardId(shard)).progress

  test("marks are no further apart than shards may be") {
    assert(
      marks(Seq(0, 60000, 60001, 90000, 300000))
        .map(_.lastArrivalMillis) === Seq(60000, 90000, 300000)
    )
    assert(marks(Seq(5, 5, 5)).size === 1)
  }

  test("a shard waits for a shard that is behind, by no more than the skew less a margin") {
    val (slow, fast) = (behind(1000, 2000), behind(1000, 61000, 61001, 500000))
    val planned = end(start(2), Map(shardOf(0) -> slow, shardOf(1) -> fast))
    assert(read(planned, 0) === after(2))
    assert(read(planned, 1) === after(2))
  }

  test("a shard that has not been read holds the others at its planned time, or completely") {
    val fast = Map(shardOf(1) -> behind(100000, 500000))
    val unknown = start(2)
    assert(end(unknown, fast) eq unknown)
    val known = ShardProgress(after(9), Set.empty, Some(Instant.ofEpochMilli(441000)))
    val from = offsetOf(0 -> known, 1 -> ShardProgress(Progress.TrimHorizon, Set.empty))
    assert(read(end(from, fast), 1) === after(2))
  }

  test("it is known which shard holds how many others back") {
    def heldBack(frontiers: (Int, Frontier)*) = ShardSkew
      .limited(
        start(3),
        frontiers.map { case (id, it) => shardOf(id) -> it }.toMap,
        ReadLimits.None,
        skew
      )
      ._2
    val tip = Frontier(Vector.empty, Nil, 0, 500000)
    assert(heldBack(0 -> tip, 1 -> behind(1000, 500000), 2 -> tip) === None)
    assert(
      heldBack(0 -> behind(1000), 1 -> behind(1000, 500000), 2 -> behind(2000, 600000)) ===
        Some(HeldBack(shardOf(0), 1000, 2))
    )
    assert(heldBack(1 -> behind(1000), 2 -> tip) === None, "nothing waits")
    assert(heldBack(1 -> behind(500000), 2 -> tip) === Some(HeldBack(shardOf(0), 0, 1)))
  }

  test("a quiet shard at its tip holds nothing back") {
    val quiet = Frontier(Vector.empty, Nil, 0, 500000)
    val planned = end(start(2), Map(shardOf(0) -> quiet, shardOf(1) -> behind(1000, 500000)))
    assert(read(planned, 1) === after(2))
  }

  test("a child that waits for a parent does not hold this parent back") {
    val long = Some(Instant.ofEpochMilli(1000))
    val from = offsetOf(
      0 -> ShardProgress(after(1), Set.empty, long),
      1 -> ShardProgress(Progress.TrimHorizon, Set(shardId(0)), long)
    )
    val parent = Frontier(Vector(Mark(Progress.Finished, 1, 1, 900000)), Nil, 0, 900000)
    assert(read(end(from, Map(shardOf(0) -> parent)), 0) === Progress.Finished)
  }

  test("what is held back is not complete, and an end without records is not held back") {
    val empty = Frontier(Vector(Mark(Progress.Finished, 0, 0, 0)), Nil, 0, 0)
    val from = start(2)
    val planned = end(from, Map(shardOf(0) -> empty, shardOf(1) -> behind(500000)))
    assert(read(planned, 0) === Progress.Finished)
    assert(planned.streams(arn).shards(shardId(1)) === from.streams(arn).shards(shardId(1)))
  }

  private val histories = for {
    shards <- Gen.choose(2, 5)
    arrivals <- Gen.listOfN(
      shards,
      Gen.choose(1, 30).flatMap(Gen.listOfN(_, Gen.choose(1L, 1000000L))).flatMap(falling)
    )
    seen <- Gen.listOfN(shards, Gen.choose(0, 30))
    limits <- Gen.option(Gen.choose(1L, 20L)).map(ReadLimits(_, None))
    skew <- Gen.oneOf(1.second, 60.seconds)
  } yield (arrivals.toVector, seen, limits, skew)

  private def falling(times: Seq[Long]): Gen[Vector[Long]] = for {
    falls <- Gen.listOfN(times.size, Gen.choose(0L, ArrivalTimes.Margin.toMillis))
  } yield times.sorted.zip(falls).map { case (time, fall) => math.max(1, time - fall) }.toVector

  test("no shard is read further than the oldest unread record of another plus the skew") {
    forAll(histories, minSuccessful(500)) { case (arrivals, seen, limits, skew) =>
      @tailrec
      def more(from: SourceOffset, batch: Int): Unit = {
        def unread(id: Int, offset: SourceOffset) = read(offset, id) match {
          case Progress.After(number) => arrivals(id).drop(number.text.toInt)
          case _ => arrivals(id)
        }
        // Executors have read a page of each shard, and one more record of it with each batch.
        val frontiers = arrivals.indices.map { id =>
          val (first, rest) = arrivals(id).splitAt(seen(id))
          val later = rest.take(batch).zipWithIndex.flatMap { case (millis, index) =>
            marks(Seq(millis), limits, first.size + index, skew)
          }
          val isTip = rest.size <= batch
          val complete =
            if (isTip) 2000000L else (first ++ rest.take(batch)).maxOption.getOrElse(0L)
          val all = marks(first, limits, skew = skew) ++ later
          val frontier = Frontier(all, Nil, if (isTip) 0 else 1000, complete)
          shardOf(id) -> frontier.after(read(from, id))
        }.toMap
        val planned = end(from, frontiers, limits, skew)
        for (id <- arrivals.indices if read(planned, id) != read(from, id)) {
          val last = unread(id, from).dropRight(unread(id, planned).size).max
          val others = arrivals.indices.filter(_ != id).flatMap(unread(_, planned))
          others.foreach(oldest => assert(last <= oldest + skew.toMillis))
        }
        val isDone = arrivals.indices.forall(unread(_, planned).isEmpty)
        assert(isDone || batch < 500, "the query does not continue")
        if (!isDone) more(planned, batch + 1)
      }
      more(start(arrivals.size), 0)
    }
  }
}
