package sparkkinesis.source.realtime

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{ChildShard, SequenceNumber, Shard, ShardId, StreamShard}

class TaskEndsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val read = Progress.After(SequenceNumber("5"))
  private val period = 1.minute

  private def end(id: ShardId, upTo: Progress, graph: Seq[Shard] = Nil, complete: Long = 0) = {
    val children =
      if (upTo != Progress.Finished) Nil
      else
        graph
          .filter(_.parents.contains(id))
          .map(child => ChildShard(child.id, child.parents, child.hashKeys))
    ReadUpTo(StreamShard(arn, id), upTo, None, children, 0, complete, None)
  }

  private def startOf(ids: Seq[ShardId]): SourceOffset = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap(ids.map(_ -> ShardProgress(Progress.TrimHorizon, Set.empty)): _*)
    )
  )

  /** A stream, and how far a batch has read each of the shards without parents. */
  private val batches: Gen[(Vector[Shard], Map[ShardId, Progress])] = for {
    graph <- shardGraph
    roots = graph.filter(_.parents.isEmpty)
    choices <- Gen.listOfN(roots.size, Gen.choose(0, 3))
  } yield graph -> roots
    .zip(choices)
    .map { case (shard, choice) =>
      val upTo =
        if (choice >= 2 && !shard.isOpen) Progress.Finished
        else if (choice == 0) Progress.TrimHorizon
        else read
      shard.id -> upTo
    }
    .toMap

  test("children wait for all parents, and shards that were not read stay where they were") {
    forAll(batches) { case (graph, upTo) =>
      val start = startOf(upTo.keys.toSeq)
      val ends = upTo.toSeq.map { case (id, progress) => end(id, progress, graph) }
      val next = TaskEnds.joined(start, ends, period)
      def isFinished(id: ShardId) = upTo.get(id).contains(Progress.Finished)
      val children =
        graph.filter(shard => shard.parents.nonEmpty && shard.parents.forall(isFinished))
      val expected =
        upTo.filter(_._2 != Progress.Finished) ++ children.map(_.id -> Progress.TrimHorizon)
      assert(next.readable.map { case (shard, at) => shard.shard -> at } === expected)
      if (upTo.values.forall(_ == Progress.TrimHorizon)) assert(next eq start)
      assert(TaskEnds.joined(start, ends.reverse, period) === next, "their order does not matter")
    }
  }

  test("an idle batch confirms from time to time what is complete, and else changes nothing") {
    val start = startOf(Seq(shardId(0), shardId(1)))
    def idle(start: SourceOffset, millis: Long) = TaskEnds.joined(
      start,
      Seq(0, 1).map(number => end(shardId(number), Progress.TrimHorizon, complete = millis)),
      period
    )
    assert(idle(start, 0) eq start)
    val once = idle(start, 1000)
    assert(once.shard(shardOf(1)).flatMap(_.completeAsOf) === Some(Instant.ofEpochMilli(1000)))
    assert(once.readable === start.readable)
    assert(idle(once, 61000) eq once)
    val later = idle(once, 61001)
    assert(later.shard(shardOf(0)).flatMap(_.completeAsOf) === Some(Instant.ofEpochMilli(61001)))
  }

  test("a batch that has read something logs also what is complete of the other shards") {
    val start = startOf(Seq(shardId(0), shardId(1)))
    val ends = Seq(
      end(shardId(0), read, complete = 7).copy(first = Some(SequenceNumber("3"))),
      end(shardId(1), Progress.TrimHorizon, complete = 9)
    )
    val next = TaskEnds.joined(start, ends, period)
    val first = next.shard(shardOf(0)).get
    assert(first.progress === read && first.first === Some(SequenceNumber("3")))
    assert(first.completeAsOf === Some(Instant.ofEpochMilli(7)))
    val second = next.shard(shardOf(1)).get
    assert(second.progress === Progress.TrimHorizon)
    assert(second.completeAsOf === Some(Instant.ofEpochMilli(9)))
  }

  test("a shard without an end stays, and an end of an unknown shard changes nothing") {
    val start = startOf(Seq(shardId(0), shardId(1)))
    val next = TaskEnds.joined(start, Seq(end(shardId(0), read), end(shardId(7), read)), period)
    assert(next.progress === Map(shardOf(0) -> read, shardOf(1) -> Progress.TrimHorizon))
  }
}
