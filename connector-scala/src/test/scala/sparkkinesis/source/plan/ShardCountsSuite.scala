package sparkkinesis.source.plan

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.source.protocol.{FetchCounters, FetchReport, Heartbeat, Mark}

class ShardCountsSuite extends AnyFunSuite {
  private val now = Instant.EPOCH

  private def offset(shards: (Int, ShardProgress)*) = only(
    StreamOffset(arn, now, SortedMap.from(shards.map { case (id, shard) => shardId(id) -> shard }))
  )

  private def at(progress: Progress, waitsFor: Int*) =
    ShardProgress(progress, waitsFor.map(shardId).toSet)

  test("the counts follow shards that are read, end, and have children") {
    val driver = new ReadAheadDriver(10.seconds)
    assert(driver.ahead.shardCounts === ShardCounts.Zero)
    val start = offset(
      0 -> at(Progress.TrimHorizon),
      1 -> at(Progress.TrimHorizon),
      2 -> at(Progress.TrimHorizon, 0, 1)
    )
    driver.advance(start, start)
    assert(driver.ahead.shardCounts === ShardCounts(open = 2, closed = 0, waiting = 1, reading = 0))

    val status = Heartbeat("a", "host", Vector.empty, FetchCounters.Zero, None, 0)
    val plan = driver.answer(status).plan.get
    val ended = Vector(Mark(Progress.Finished, 0, 0, 0))
    val reports = plan.assignments.filter(_.shard == shardOf(0)).map { a =>
      FetchReport(a.shard, a.generation, a.from, ended, Nil, 0, 0)
    }
    driver.answer(status.copy(reports = reports, knownVersion = 1))
    assert(driver.ahead.shardCounts === ShardCounts(open = 1, closed = 0, waiting = 1, reading = 1))

    val next = offset(
      0 -> at(Progress.Finished),
      1 -> at(Progress.TrimHorizon),
      2 -> at(Progress.TrimHorizon, 0, 1)
    )
    driver.advance(start, next)
    assert(driver.ahead.shardCounts === ShardCounts(open = 1, closed = 1, waiting = 1, reading = 0))
    val last = offset(1 -> at(Progress.Finished), 2 -> at(Progress.TrimHorizon, 1))
    driver.advance(next, last)
    driver.advance(last, last)
    assert(driver.ahead.shardCounts === ShardCounts(open = 1, closed = 2, waiting = 0, reading = 0))
  }
}
