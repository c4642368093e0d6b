package sparkkinesis.source.realtime

import java.time.Instant

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset, StreamOffset}
import sparkkinesis.model.{ChildShard, HashKeyRange, StreamShard}
import sparkkinesis.source.protocol.{FetchCounters, FetchFailure}

class RealTimeCoordinatorSuite extends AnyFunSuite {
  private val range = HashKeyRange.even(1).head

  private def child(number: Int, parents: Int*) =
    ChildShard(shardId(number), parents.map(shardId), range)

  /** An offset at which the shards with these numbers are readable. */
  private def at(shards: Int*): SourceOffset = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap(shards.map(shardId(_) -> ShardProgress(Progress.TrimHorizon, Set.empty)): _*)
    )
  )

  private def status(executor: String, ended: (Int, Seq[ChildShard])*): RealTimeStatus =
    statusOf(1, executor, ended: _*)

  private def statusOf(batch: Long, executor: String, ended: (Int, Seq[ChildShard])*) =
    RealTimeStatus(
      executor,
      s"host-$executor",
      "s",
      FetchCounters.Zero,
      Map.empty,
      ended.map { case (shard, children) =>
        shardOf(shard) -> FinishedShard(batch, children)
      }.toMap,
      None,
      None
    )

  private class Driver {
    val coordinator = new RealTimeCoordinator(1.hour)

    def answer(status: RealTimeStatus): RealTimeReply = {
      coordinator.tick()
      coordinator.answer(status)
    }
  }

  private def goesOn(reply: RealTimeReply, batch: Long): Boolean =
    !reply.isStopped && reply.endedBatch < batch

  test("a shard that ended and has children ends the batch") {
    val driver = new Driver
    assert(driver.coordinator.begin(at(0, 1)) === 1)
    assert(goesOn(driver.answer(status("a")), 1))
    val ended = status("a", 0 -> Seq(child(2, 0), child(3, 0)))
    assert(driver.answer(ended) === RealTimeReply(isStopped = false, 1, Set.empty))
  }

  test("a shard that ended without children does not end the batch") {
    val driver = new Driver
    driver.coordinator.begin(at(0, 1))
    assert(goesOn(driver.answer(status("a", 0 -> Nil)), 1))
  }

  test("a merge ends the batch when both parents ended, on any executors") {
    val driver = new Driver
    val merged = child(2, 0, 1)
    driver.coordinator.begin(at(0, 1))
    assert(goesOn(driver.answer(status("a", 0 -> Seq(merged))), 1))
    assert(driver.answer(status("b", 1 -> Seq(merged))).endedBatch === 1)
  }

  test("a status of the batch before does not end the next one") {
    val driver = new Driver
    val ended = status("a", 0 -> Seq(child(1, 0)))
    driver.coordinator.begin(at(0))
    assert(driver.answer(ended).endedBatch === 1)
    assert(driver.coordinator.begin(at(1)) === 2)
    assert(goesOn(driver.answer(ended), 2))
    assert(goesOn(driver.answer(status("b")), 2))
  }

  test("a failure ends the batch, and the first one is kept") {
    val driver = new Driver
    driver.coordinator.begin(at(0))
    def failed(text: String) = Some(FetchFailure("KINESIS_ACCESS_DENIED", text, shardOf(0), 1))
    assert(driver.answer(status("a").copy(failure = failed("first"))).endedBatch === 1)
    driver.answer(status("b").copy(failure = failed("second")))
    assert(driver.coordinator.failure === failed("first"))
  }

  test("a crash of a service ends the batch") {
    val driver = new Driver
    driver.coordinator.begin(at(0))
    assert(driver.answer(status("a").copy(crash = Some("OOM"))).endedBatch === 1)
    assert(driver.coordinator.crash === Some("OOM") && driver.coordinator.failure === None)
  }

  test("the driver can end the batch") {
    val driver = new Driver
    driver.coordinator.begin(at(0))
    assert(goesOn(driver.answer(status("a")), 1))
    driver.coordinator.endBatch()
    assert(driver.answer(status("a")).endedBatch === 1)
  }

  test("the counters include those of lost executors, but not their sizes") {
    val driver = new Driver
    def counts(executor: String, records: Long) = driver.answer(
      status(executor).copy(counters =
        FetchCounters.Zero.copy(records = records, bufferedBytes = records * 10)
      )
    )
    counts("a", 5)
    counts("b", 2)
    driver.coordinator.executorLost("a")
    counts("b", 3)
    assert(driver.coordinator.counters.records === 8)
    assert(driver.coordinator.counters.bufferedBytes === 30)
    counts("a", 1)
    assert(driver.coordinator.counters.records === 9, "a new service counts from zero")
  }

  private def reading(executor: String, states: (StreamShard, RealTimeShardState)*) =
    status(executor).copy(shards = states.toMap)

  test("the location, the frontier and the silence of a shard") {
    val driver = new Driver
    val coordinator = driver.coordinator
    val first = shardOf(0) -> RealTimeShardState(70, 90, 1, isActive = true)
    driver.answer(reading("a", first, shardOf(1) -> RealTimeShardState(0, 0, 0, isActive = true)))
    assert(coordinator.location(shardOf(0)) === Some("host-a" -> "a"))
    assert(coordinator.location(shardOf(2)) === None)
    val frontier = coordinator.frontiers(shardOf(0))
    assert((frontier.millisBehindLatest, frontier.completeAsOfMillis) === (70 -> 90))
    assert(frontier.marks.isEmpty && coordinator.frontiers.keySet === Set(shardOf(0)))
    driver.answer(reading("a", first))
    assert(coordinator.longestSilence === 500.millis)
    driver.answer(reading("a", shardOf(0) -> RealTimeShardState(70, 90, 2, isActive = true)))
    assert(coordinator.longestSilence === 0.millis)
    coordinator.executorLost("a")
    assert(coordinator.location(shardOf(0)) === None && coordinator.frontiers.isEmpty)
  }

  private def parked = RealTimeShardState(0, 0, 0, isActive = false)
  private def active = RealTimeShardState(0, 0, 0, isActive = true)

  test("a shard that was read to its end in an earlier batch does not end this one") {
    val driver = new Driver
    val stale = status("a", 0 -> Seq(child(1, 0)))
    driver.coordinator.begin(at(0))
    driver.coordinator.begin(at(0))
    assert(goesOn(driver.answer(stale), 2))
    assert(driver.answer(statusOf(2, "b", 0 -> Seq(child(1, 0)))).endedBatch === 2)
  }

  test("an executor gives up a parked shard that another one reads") {
    val driver = new Driver
    driver.answer(reading("a", shardOf(0) -> active, shardOf(1) -> parked))
    val both = reading("b", shardOf(0) -> parked, shardOf(1) -> parked)
    assert(driver.answer(both).elsewhere === Set(shardOf(0)))
    assert(driver.coordinator.location(shardOf(0)) === Some("host-a" -> "a"))
  }

  test("the batch ends if a shard has no task for too long, or its executor is lost") {
    val coordinator = new RealTimeCoordinator(750.millis)
    def answer() = {
      coordinator.tick()
      coordinator.answer(reading("a", shardOf(0) -> active)).endedBatch
    }
    coordinator.begin(at(0, 1))
    assert(Seq.fill(3)(answer()) === Seq(0, 0, 1) && !coordinator.isCutShort)
    coordinator.begin(at(0))
    assert(Seq.fill(3)(answer()) === Seq(1, 1, 1))
    coordinator.executorLost("a")
    assert(coordinator.isEnding && coordinator.isCutShort)
  }

  test("a second service of an executor replaces the first one") {
    val driver = new Driver
    driver.coordinator.begin(at(0))
    driver.answer(status("a"))
    assert(!driver.answer(status("a").copy(service = "t")).isStopped)
    assert(driver.answer(status("a")).isStopped)
    assert(!driver.answer(status("a").copy(service = "t")).isStopped)
  }

  test("a silent executor keeps its tasks until it is lost; one without tasks is forgotten") {
    val driver = new Driver
    driver.coordinator.begin(at(0))
    driver.answer(reading("a", shardOf(0) -> active))
    driver.answer(reading("b", shardOf(1) -> parked))
    (1 to 30).foreach(_ => driver.coordinator.tick())
    assert(!driver.coordinator.isEnding)
    assert(driver.coordinator.location(shardOf(0)) === Some("host-a" -> "a"))
    assert(driver.coordinator.location(shardOf(1)) === None)
    driver.coordinator.executorLost("a")
    assert(driver.coordinator.isEnding)
  }

  test("a stopped query knows which executors have heard of it") {
    val driver = new Driver
    driver.coordinator.begin(at(0))
    Seq("a", "b", "c").foreach(executor => driver.answer(status(executor)))
    driver.coordinator.stop()
    assert(!driver.coordinator.allKnowOfStop, "nobody knows")
    assert(driver.answer(status("a")) === RealTimeReply(isStopped = true, 1, Set.empty))
    driver.answer(status("b"))
    assert(!driver.coordinator.allKnowOfStop, "one does not know")
    driver.coordinator.executorLost("c")
    assert(driver.coordinator.allKnowOfStop)
  }
}
