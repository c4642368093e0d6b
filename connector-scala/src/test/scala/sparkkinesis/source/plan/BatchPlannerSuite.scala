package sparkkinesis.source.plan

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.shard.{ShardRange, SourceException}
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}

class BatchPlannerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private type Marks = Map[ShardId, Vector[Mark]]

  /** A stream, and what reading each of its shards would find. */
  private val streams: Gen[(Vector[Shard], Marks)] = for {
    graph <- shardGraph
    marks <- Gen.sequence[Vector[Vector[Mark]], Vector[Mark]](graph.map(marksOf))
  } yield (graph, graph.map(_.id).zip(marks).toMap)

  private def marksOf(shard: Shard): Gen[Vector[Mark]] = for {
    count <- Gen.choose(if (shard.isOpen) 0 else 1, 6)
    sizes <- Gen.listOfN(
      count,
      Gen.zip(Gen.choose(1L, 9L), Gen.choose(0L, 90L), Gen.choose(0L, Margin))
    )
  } yield sizes.zipWithIndex.toVector.map { case ((records, bytes, fall), index) =>
    val isEnd = !shard.isOpen && index == count - 1
    val upTo = if (isEnd) Progress.Finished else afterNumber(index + 1)
    // A shard's records arrive after those of its ancestors, whose numbers are lower.
    val arrived = 100000L * (1 + shard.id.name.takeRight(3).toLong) + 500L * index - fall
    Mark(upTo, records, bytes, arrived)
  }

  private def Margin = ArrivalTimes.Margin.toMillis

  private def afterNumber(number: Int): Progress = Progress.After(SequenceNumber(number.toString))

  private def offsetOf(shards: (ShardId, ShardProgress)*) =
    only(StreamOffset(arn, Instant.EPOCH, SortedMap.from(shards)))

  private implicit class OneStream(offset: SourceOffset) {
    def shards: SortedMap[ShardId, ShardProgress] = offset.streams(arn).shards
  }

  private def start(graph: Vector[Shard]): SourceOffset = offsetOf(
    graph.filter(_.parents.isEmpty).map(_.id -> ShardProgress(Progress.TrimHorizon, Set.empty)): _*
  )

  private def childrenOf(graph: Vector[Shard], id: ShardId) = graph
    .filter(_.parents.contains(id))
    .map(child => ChildShard(child.id, child.parents, child.hashKeys))

  /** The frontiers when each executor has read all records after `offset`. */
  private def frontiers(graph: Vector[Shard], marks: Marks, offset: SourceOffset) =
    offset.readable.map { case (id, progress) =>
      val all = marks(id.shard)
      val complete = all.lastOption.fold(0L)(_.lastArrivalMillis)
      id -> Frontier(all, childrenOf(graph, id.shard), 0, complete).after(progress)
    }

  private case class Planned(
      start: SourceOffset,
      end: SourceOffset,
      marks: Map[StreamShard, Vector[Mark]]
  )

  /** Batch after batch, until there is nothing left to plan. */
  private def planAll(graph: Vector[Shard], marks: Marks, limits: ReadLimits): Vector[Planned] = {
    @tailrec
    def more(from: SourceOffset, before: Vector[Planned]): Vector[Planned] = {
      val known = frontiers(graph, marks, from)
      val end = BatchPlanner.end(from, known, limits)
      if (end == from) before
      else {
        assert(before.size < 500, s"never ends: $end")
        more(end, before :+ Planned(from, end, known.map { case (id, f) => id -> f.marks }))
      }
    }
    more(start(graph), Vector.empty)
  }

  /** The marks a batch took of a shard. */
  private def taken(batch: Planned, range: ShardRange): Vector[Mark] = {
    val all = batch.marks(range.shard)
    all.take(all.indexWhere(_.upTo == range.upTo) + 1)
  }

  test("every shard is drained, and each of its marks is in exactly one batch, in order") {
    forAll(streams, limits) { case ((graph, marks), limits) =>
      val batches = planAll(graph, marks, limits)
      val seen = for {
        batch <- batches
        range <- BatchPlanner.ranges(batch.start, batch.end)
        mark <- taken(batch, range)
      } yield range.shard.shard -> mark
      val byShard = seen.groupMap(_._1)(_._2)
      graph.foreach(shard => assert(byShard.getOrElse(shard.id, Vector.empty) === marks(shard.id)))
    }
  }

  test("the ranges of a batch start at its start and end at the last mark taken") {
    forAll(streams, limits) { case ((graph, marks), limits) =>
      planAll(graph, marks, limits).foreach { batch =>
        val ranges = BatchPlanner.ranges(batch.start, batch.end)
        assert(ranges.nonEmpty && ranges.map(_.shard) === ranges.map(_.shard).distinct.sorted)
        ranges.foreach { range =>
          assert(range.from === batch.start.readable(range.shard))
          assert(range.upTo === batch.end.shards(range.shard.shard).progress)
          assert(taken(batch, range).nonEmpty)
        }
      }
    }
  }

  test("a batch exceeds its limits only if a single mark does") {
    forAll(streams, limits) { case ((graph, marks), limits) =>
      planAll(graph, marks, limits).foreach { batch =>
        val all = BatchPlanner.ranges(batch.start, batch.end).flatMap(taken(batch, _))
        assert(all.size == 1 || limits.allow(all.map(_.records).sum, all.map(_.bytes).sum))
      }
    }
  }

  test("a child is read only after each parent was finished in an earlier batch") {
    forAll(streams, limits) { case ((graph, marks), limits) =>
      val parents = graph.map(shard => shard.id -> shard.parents).toMap
      planAll(graph, marks, limits).foldLeft(Set.empty[ShardId]) { (finished, batch) =>
        val ranges = BatchPlanner.ranges(batch.start, batch.end)
        ranges.foreach(range => assert(parents(range.shard.shard).toSet.subsetOf(finished)))
        finished ++ ranges.filter(_.upTo == Progress.Finished).map(_.shard.shard)
      }
    }
  }

  test("children appear exactly when a parent finishes, and wait for every parent") {
    forAll(streams, limits) { case ((graph, marks), limits) =>
      planAll(graph, marks, limits).foreach { batch =>
        val appeared = batch.end.shards.keySet -- batch.start.shards.keySet
        val finished = batch.end.shards.filter(_._2.progress == Progress.Finished).keySet
        val known = batch.start.shards.keySet
        val children =
          finished.unsorted.flatMap(id => childrenOf(graph, id)).filterNot(c => known(c.id))
        assert(appeared === children.map(_.id))
        children.foreach { child =>
          val shard = batch.end.shards(child.id)
          assert(shard.progress === Progress.TrimHorizon && shard.waitsFor === child.parents.toSet)
          val parents = child.parents.filter(finished).flatMap(batch.end.shards(_).completeAsOf)
          assert(shard.completeAsOf === parents.maxOption)
        }
      }
    }
  }

  test("no shard starves behind the backlog of another") {
    val big = Vector.tabulate(1000)(n => Mark(afterNumber(n + 1), 10, 10, 0))
    val small = Vector(Mark(afterNumber(1), 1, 1, 99999)) // and it is the newest
    val graph = newStream(2)
    val end = BatchPlanner.end(
      start(graph),
      frontiers(graph, Map(shardId(0) -> big, shardId(1) -> small), start(graph)),
      ReadLimits(Some(100), None)
    )
    assert(end.shards(shardId(1)).progress === afterNumber(1))
    assert(end.shards(shardId(0)).progress === afterNumber(9))
  }

  test("two streams share the limits, and neither starves behind the backlog of the other") {
    val other = arn.copy(name = StreamName("refunds"))
    val old = Vector.tabulate(1000)(n => Mark(afterNumber(n + 1), 10, 10, 0))
    val fresh = Vector.tabulate(1000)(n => Mark(afterNumber(n + 1), 10, 10, 99999))
    val unread = SortedMap(shardId(0) -> ShardProgress(Progress.TrimHorizon, Set.empty))
    val from = SourceOffset.of(Seq(arn, other).map(StreamOffset(_, Instant.EPOCH, unread)))
    val known = Seq(arn -> old, other -> fresh).map { case (stream, marks) =>
      StreamShard(stream, shardId(0)) -> Frontier(marks, Nil, 9999, 0)
    }
    for (limits <- Seq(ReadLimits(Some(100), None), ReadLimits(None, Some(100)))) {
      val end = BatchPlanner.end(from, known.toMap, limits)
      end.streams.values.foreach(one => assert(one.shards(shardId(0)).progress === afterNumber(5)))
    }
  }

  test("the plan does not depend on the order of the frontiers") {
    forAll(streams, limits, Gen.long) { case ((graph, marks), limits, seed) =>
      val from = start(graph)
      val known = frontiers(graph, marks, from)
      val shuffled = new scala.util.Random(seed).shuffle(known.toSeq)
      val again = scala.collection.immutable.ListMap.from(shuffled)
      assert(BatchPlanner.end(from, known, limits) === BatchPlanner.end(from, again, limits))
    }
  }

  test("a shard waits for a parent that was never listed") {
    val (known, unknown, child) = (shardId(0), shardId(1), shardId(2))
    val from = offsetOf(known -> ShardProgress(Progress.TrimHorizon, Set.empty))
    val merged = ChildShard(child, Seq(known, unknown), HashKeyRange.All)
    val end = Map(
      StreamShard(arn, known) -> Frontier(
        Vector(Mark(Progress.Finished, 0, 0, 0)),
        Seq(merged),
        0,
        0
      )
    )
    val next = BatchPlanner.end(from, end, ReadLimits.None)
    assert(next.shards(child) === ShardProgress(Progress.TrimHorizon, Set(known, unknown)))
    assert(next.settled.shards(child).waitsFor === Set(unknown) && next.readable.isEmpty)
  }

  test(
    "without new marks the end is the start itself, and frontiers of unknown shards are ignored"
  ) {
    val from = start(newStream(1))
    assert(BatchPlanner.end(from, Map.empty, ReadLimits.None) eq from)
    val stranger = Frontier(Vector(Mark(afterNumber(1), 1, 1, 1)), Nil, 0, 0)
    assert(BatchPlanner.end(from, Map(shardOf(9) -> stranger), ReadLimits.None) eq from)
  }

  private def completeAsOf(offset: SourceOffset, shard: Int): Option[Long] =
    offset.shards(shardId(shard)).completeAsOf.map(_.toEpochMilli)

  private def complete(progress: Progress, millis: Long): ShardProgress =
    ShardProgress(progress, Set.empty, Some(Instant.ofEpochMilli(millis)))

  test("each shard is complete as of the records taken from it, and that time never goes back") {
    val from = offsetOf(
      shardId(0) -> complete(Progress.TrimHorizon, 50),
      shardId(1) -> ShardProgress(Progress.TrimHorizon, Set.empty)
    )
    def frontier(completeAsOf: Long) =
      Frontier(
        Vector(Mark(afterNumber(1), 1, 1, 70), Mark(afterNumber(2), 1, 1, 80)),
        Nil,
        0,
        completeAsOf
      )
    def planned(limits: ReadLimits, all: (Int, Frontier)*) = {
      val frontiers = all.map { case (id, f) => shardOf(id) -> f }.toMap
      val end = BatchPlanner.end(from, frontiers, limits)
      (completeAsOf(end, 0), completeAsOf(end, 1))
    }
    val both = planned(ReadLimits.None, 0 -> frontier(100), 1 -> frontier(90))
    assert(both === ((Some(100), Some(90))))
    assert(planned(ReadLimits.None, 0 -> frontier(100)) === ((Some(100), None)), "not looked at")
    assert(planned(ReadLimits.None, 0 -> frontier(10)) === ((Some(50), None)), "never back")
    val oneEach = ReadLimits(Some(2), None)
    val cut = planned(oneEach, 0 -> frontier(100), 1 -> frontier(100))
    assert(cut === ((Some(70), Some(70))), "only to the last record taken")
  }

  test(
    "a quiet shard beside a busy one is complete as of its last call, also in another stream"
  ) {
    val quiet = arn.copy(name = StreamName("refunds"))
    def progressOf(offset: SourceOffset, arn: StreamArn, shard: Int) =
      offset.streams(arn).shards(shardId(shard)).completeAsOf.map(_.toEpochMilli)
    val both = offsetOf(
      shardId(0) -> complete(afterNumber(1), 50),
      shardId(1) -> complete(afterNumber(1), 50)
    )
    val from = SourceOffset(both.streams + (quiet -> both.streams(arn).copy(stream = quiet)))
    val busy = Frontier(Vector(Mark(afterNumber(2), 1, 1, 70)), Nil, 0, 70)
    val idle = Frontier(Vector.empty, Nil, 0, 90)
    val frontiers =
      Map(shardOf(0) -> busy, shardOf(1) -> idle, StreamShard(quiet, shardId(0)) -> idle)
    val end = BatchPlanner.end(from, frontiers, ReadLimits.None)
    assert(progressOf(end, arn, 0) === Some(70) && progressOf(end, arn, 1) === Some(90))
    assert(progressOf(end, quiet, 0) === Some(90))
    assert(progressOf(end, quiet, 1) === Some(50), "not looked at")
    assert(BatchPlanner.ranges(from, end).map(_.shard) === Seq(shardOf(0)))
  }

  test("a child starts as complete as the parent that finished") {
    val (parent, child) = (shardId(0), shardId(2))
    val split = ChildShard(child, Seq(parent), HashKeyRange.All)
    def end(from: ShardProgress, completeAsOfMillis: Long) = BatchPlanner.end(
      offsetOf(parent -> from),
      Map(
        StreamShard(arn, parent) ->
          Frontier(Vector(Mark(Progress.Finished, 0, 0, 0)), Seq(split), 0, completeAsOfMillis)
      ),
      ReadLimits.None
    )
    assert(completeAsOf(end(complete(Progress.TrimHorizon, 50), 70), 2) === Some(70))
    assert(completeAsOf(end(complete(Progress.TrimHorizon, 50), 0), 2) === Some(50))
    val unread = ShardProgress(Progress.TrimHorizon, Set.empty)
    assert(completeAsOf(end(unread, 0), 2) === None, "nothing was read, so nothing is owed")
  }

  test("the child of a merge is as complete as the later parent, also if the other one was empty") {
    val (one, other) = (shardId(0), shardId(1))
    val merged = ChildShard(shardId(2), Seq(one, other), HashKeyRange.All)
    val start = offsetOf(
      one -> ShardProgress(Progress.TrimHorizon, Set.empty),
      other -> ShardProgress(Progress.TrimHorizon, Set.empty)
    )
    def finish(from: SourceOffset, shard: ShardId, completeAsOfMillis: Long) = BatchPlanner.end(
      from,
      Map(
        StreamShard(arn, shard) ->
          Frontier(Vector(Mark(Progress.Finished, 0, 0, 0)), Seq(merged), 0, completeAsOfMillis)
      ),
      ReadLimits.None
    )
    Seq(one -> other, other -> one).foreach { case (first, second) =>
      assert(completeAsOf(finish(finish(start, first, 0), second, 70), 2) === Some(70))
      assert(completeAsOf(finish(finish(start, first, 70), second, 0), 2) === Some(70))
      assert(completeAsOf(finish(finish(start, first, 70), second, 90), 2) === Some(90))
    }
  }

  test("an offset is never complete beyond the oldest unread record of a shard and the margin") {
    forAll(streams, limits) { case ((graph, marks), limits) =>
      planAll(graph, marks, limits).foreach { batch =>
        batch.end.shards.foreach { case (id, shard) =>
          val unread = Frontier(marks(id), Nil, 0, 0).after(shard.progress).marks
          for (oldest <- unread.headOption; known <- shard.completeAsOf)
            assert(known.toEpochMilli <= oldest.lastArrivalMillis + Margin)
        }
      }
    }
  }

  test("a run with a stop time is done when batches have taken all marks up to each tip") {
    val from = start(newStream(2))
    val unread = Vector(Mark(afterNumber(1), 1, 1, 50))
    def isDone(marks: Vector[Mark], behind: Long) = BatchPlanner.isDone(
      from,
      Map(
        shardOf(0) -> Frontier(marks, Nil, behind, 50),
        shardOf(1) -> Frontier(Vector.empty, Nil, 0, 50)
      )
    )
    assert(isDone(Vector.empty, behind = 0))
    assert(!isDone(Vector.empty, behind = 1) && !isDone(unread, behind = 0))
    assert(!BatchPlanner.isDone(from, Map(shardOf(1) -> Frontier(Vector.empty, Nil, 0, 50))))
  }

  test("an idle query regularly confirms that it has read all records of each shard") {
    val from = offsetOf(
      shardId(0) -> complete(afterNumber(1), 5000),
      shardId(1) -> complete(afterNumber(1), 5500)
    )
    def confirmed(offset: SourceOffset, completeAsOf: Long) = BatchPlanner.confirmed(
      offset,
      offset.readable.map { case (id, _) => id -> Frontier(Vector.empty, Nil, 0, completeAsOf) },
      1.second
    )
    assert(confirmed(from, 6000) eq from)
    val first = confirmed(from, 6001)
    assert(completeAsOf(first, 0) === Some(6001) && completeAsOf(first, 1) === Some(6001))
    assert(first.readable === from.readable && BatchPlanner.ranges(from, first).isEmpty)
    assert(confirmed(first, 6001) eq first)
    assert(completeAsOf(confirmed(from, 6501), 1) === Some(6501))
    assert(BatchPlanner.confirmed(from, Map.empty, 1.second) eq from, "not looked at yet")
    assert(confirmed(from, 0) eq from, "looked at, and behind")
    val waiting = offsetOf(shardId(2) -> ShardProgress(Progress.TrimHorizon, Set(shardId(1))))
    assert(confirmed(waiting, 9999) eq waiting, "nothing to read proves nothing")
  }

  test("the offset that an idle query confirms has no finished shards") {
    val from = offsetOf(
      shardId(0) -> complete(Progress.Finished, 50),
      shardId(1) ->
        ShardProgress(Progress.TrimHorizon, Set(shardId(0)), Some(Instant.ofEpochMilli(50)))
    )
    val idle = Map(shardOf(1) -> Frontier(Vector.empty, Nil, 0, 9999))
    val confirmed = BatchPlanner.confirmed(from, idle, 1.second)
    assert(confirmed.shards === Map(shardId(1) -> complete(Progress.TrimHorizon, 9999)))
  }

  test("an idle query confirms nothing while marks are unread") {
    val from = start(newStream(1))
    val unread = Frontier(Vector(Mark(afterNumber(1), 1, 1, 9999)), Nil, 0, 9999)
    assert(BatchPlanner.confirmed(from, Map(shardOf(0) -> unread), 1.second) eq from)
  }

  test("an end without a shard of its start is refused") {
    val from = start(newStream(1))
    assertUnreadable(intercept[SourceException](BatchPlanner.ranges(from, offsetOf())))
  }

  test("an end with a partly read shard that its start does not have is refused") {
    val read = offsetOf(shardOf(0).shard -> ShardProgress(afterNumber(1), Set.empty))
    assertUnreadable(intercept[SourceException](BatchPlanner.ranges(offsetOf(), read)))
  }

  private def assertUnreadable(e: SourceException): Unit = {
    assert(e.condition === "KINESIS_BATCH_UNREADABLE")
    assert(e.getMessage.contains(s"$arn, shardId-000000000000"))
  }
}
