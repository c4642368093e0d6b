package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.SequenceNumber
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.shard.SourceException
import sparkkinesis.sink.FastClock
import sparkkinesis.source.ScriptedKinesis
import sparkkinesis.source.ScriptedKinesis._
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}

/** The completeness of an offset, from the plan that wrote it to the check after a stop. */
class CompletenessSuite extends AnyFunSuite {
  private val now = Instant.parse("2026-01-09T00:00:00Z")
  private val shard = shardId(0)
  private val beginning = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap(shard -> ShardProgress(Progress.TrimHorizon, Set.empty))
    )
  )

  private def after(wait: FiniteDuration): Instant = now.plusMillis(wait.toMillis)

  /** A restart at that time. */
  private def check(
      offset: SourceOffset,
      at: Instant,
      retention: FiniteDuration = 24.hours
  ): Unit = Seq(-1.hour, 0.hours, 1.hour).foreach { wrong =>
    val clock = new FastClock // of the driver
    clock.pass(at.toEpochMilli.millis + wrong)
    val described = summary(retention = retention).copy(serverTime = Some(at))
    val kinesis = new ScriptedKinesis().summary(described)
    val stream = QueryStreamSuite.queryStream(kinesis, clock).describe()
    new ExpiredShards(stream, failOnDataLoss = true).check(offset.streams(arn), clock.now)
  }

  private def isRefused(offset: SourceOffset, at: Instant): Boolean =
    try { check(offset, at); false }
    catch { case e: SourceException => e.condition == "KINESIS_DATA_LOSS" }

  private def read(
      from: SourceOffset,
      lastArrival: Instant,
      completeAsOf: Instant
  ): SourceOffset = {
    val mark = Mark(Progress.After(SequenceNumber("1")), 1, 1, lastArrival.toEpochMilli)
    val frontier = Frontier(Vector(mark), Nil, 1, completeAsOf.toEpochMilli)
    BatchPlanner.end(from, Map(shardOf(0) -> frontier), ReadLimits.None)
  }

  test(
    "after a stop of 10 hours, a backlog of which one hour was read is reported as a loss"
  ) {
    val oneHourRead = read(beginning, after(-23.hours), after(-23.hours))
    assert(isRefused(oneHourRead, after(10.hours)))
    assert(!isRefused(oneHourRead, after(1.hour)))
  }

  test("records of a backlog that expire before the first read are no loss") {
    check(beginning, after(1000.hours))
  }

  test("after a backlog was read to its tip, only a stop beyond the retention period is refused") {
    val all = read(beginning, after(-5.hours), now)
    assert(!isRefused(all, after(24.hours)) && isRefused(all, after(24.hours + 1.milli)))
  }

  test("a shard that is read to its end is not owed, however long ago that was") {
    val finished = ShardProgress(Progress.Finished, Set.empty, Some(after(-25.hours)))
    val child = ShardProgress(Progress.TrimHorizon, Set(shard), Some(after(-1.hour)))
    val offset = StreamOffset(arn, Instant.EPOCH, SortedMap(shard -> finished, shardId(1) -> child))
    check(only(offset), now)
    val unread = ShardProgress(Progress.TrimHorizon, Set.empty, finished.completeAsOf)
    assert(isRefused(only(offset.copy(shards = offset.shards.updated(shard, unread))), now))
  }

  /** Each day's run of `Trigger.AvailableNow` over a stream without records. */
  private def daily(isConfirmed: Boolean): Unit = {
    val retention = 36.hours
    val first = read(beginning, now, now)
    (1 to 9).foldLeft(first) { (offset, day) =>
      val stop = after(day.days)
      check(offset, stop.plusSeconds(1), retention)
      val idle = Frontier(Vector.empty, Nil, 0, stop.toEpochMilli)
      val confirmed = BatchPlanner.confirmed(offset, Map(shardOf(0) -> idle), retention / 16)
      if (isConfirmed) confirmed else offset
    }
    ()
  }

  test(
    "a quiet stream that is read once per day is never refused, because each run confirms its end"
  ) {
    daily(isConfirmed = true)
    assertThrows[SourceException](daily(isConfirmed = false))
  }
}
