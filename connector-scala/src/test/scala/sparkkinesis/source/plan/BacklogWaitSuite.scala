package sparkkinesis.source.plan

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, SequenceNumber}
import sparkkinesis.source.protocol.{FetchCounters, Frontier, Mark, ReadLimits}

class BacklogWaitSuite extends AnyFunSuite {
  private val mark = Mark(Progress.After(SequenceNumber("1")), 1, 10, 0)

  private def isWorth(
      records: Long,
      behind: Long,
      limits: ReadLimits = ReadLimits.None,
      isFull: Boolean = false,
      waited: FiniteDuration = 100.millis,
      left: FiniteDuration = Duration.Zero,
      spilled: Long = 0
  ): Boolean = {
    val marks = Vector(mark.copy(records = records, bytes = records * 10)).filter(_.records > 0)
    val quiet = Frontier(Vector.empty, Nil, millisBehindLatest = 0, 0)
    val frontiers = Map(shardOf(0) -> Frontier(marks, Nil, behind, 0), shardOf(1) -> quiet)
    val enough = 10 * (10 + PackedRecords.UsualOverhead)
    val state = stores(memory = enough * 8 / 3, isFull).copy(spilledBytes = spilled)
    BacklogWait.isWorth(Found.of(frontiers), limits, state, waited, left)
  }

  private def stores(memory: Long, isFull: Boolean = false): FetchCounters =
    FetchCounters.Zero.copy(memoryBytes = memory, fullStores = if (isFull) 1 else 0)

  test("while a little of a backlog was read, a batch waits for more, but not for long") {
    assert(isWorth(records = 9, behind = 60000))
    assert(!isWorth(records = 9, behind = 60000, waited = 200.millis))
    assert(!isWorth(records = 10, behind = 60000), "there is enough")
    assert(!isWorth(records = 9, behind = 500), "new records would wait")
    assert(!isWorth(records = 9, behind = 60000, isFull = true), "no more can arrive")
    assert(isWorth(records = 8, behind = 60000, ReadLimits(Some(9), None)))
    assert(!isWorth(records = 9, behind = 60000, ReadLimits(Some(9), None)), "the batch is full")
    assert(!isWorth(records = 9, behind = 60000, ReadLimits(None, Some(90))))
  }

  test("behind the tip, a batch waits until it is worth its cost") {
    assert(isWorth(records = 9, behind = 60000, waited = 5.seconds, left = 1.milli))
    assert(!isWorth(records = 9, behind = 500, waited = 5.seconds, left = 1.second))
    assert(!isWorth(records = 10, behind = 60000, left = 1.second), "memory has enough")
    assert(!isWorth(records = 9, behind = 60000, left = 1.second, spilled = 1), "disk is dearer")
    assert(!isWorth(records = 9, behind = 60000, ReadLimits(Some(9), None), left = 1.second))
  }

  test("a few shards that lag behind do not delay the others") {
    def isWorth(behind: Long*) = {
      val frontiers = behind.zipWithIndex.map { case (millis, id) =>
        shardOf(id) -> Frontier(Vector(mark), Nil, millis, 0)
      }
      BacklogWait.isWorth(
        Found.of(frontiers.toMap),
        ReadLimits.None,
        stores(9999),
        1.second,
        1.second
      )
    }
    assert(isWorth(60000, 60000, 0))
    assert(!isWorth(60000, 0))
    assert(!isWorth(60000, 0, 0))
  }

  test("nothing more of a shard that has ended can arrive") {
    val ended = Frontier(Vector(mark, mark.copy(upTo = Progress.Finished)), Nil, 60000, 0)
    val frontiers = Map(shardOf(0) -> ended)
    assert(
      !BacklogWait.isWorth(Found.of(frontiers), ReadLimits.None, stores(9999), 0.seconds, 1.second)
    )
  }

  test("a batch waits longer for the first pages of a backlog, or the trigger would be skipped") {
    assert(isWorth(records = 0, behind = 60000, waited = 1.second))
    assert(!isWorth(records = 0, behind = 60000, waited = 2.seconds))
    assert(isWorth(records = 0, behind = 0, isFull = true, waited = 1.second))
    assert(!isWorth(records = 0, behind = 0, waited = Duration.Zero), "there is no backlog")
  }

  test("the end of a shard is something to plan, even without records") {
    val ended = Frontier(Vector(mark.copy(records = 0, bytes = 0)), Nil, 60000, 0)
    val frontiers = Map(shardOf(0) -> ended)
    assert(
      !BacklogWait.isWorth(
        Found.of(frontiers),
        ReadLimits.None,
        stores(100, isFull = true),
        1.second,
        1.second
      )
    )
  }

  test("a shard that brings nothing holds back no other") {
    val slow = Frontier(Vector.empty, Nil, millisBehindLatest = 90000, 0)
    val frontiers = Map(shardOf(0) -> slow, shardOf(1) -> Frontier(Vector(mark), Nil, 0, 0))
    assert(
      !BacklogWait.isWorth(
        Found.of(frontiers),
        ReadLimits.None,
        stores(1000),
        Duration.Zero,
        1.second
      )
    )
  }
}
