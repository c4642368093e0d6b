package sparkkinesis.simulator.state

import java.time.Instant

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.{HashKey, HashKeyRange, PutEntry, StreamName}
import sparkkinesis.simulator.operation._
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.StatePropertySuite.{Arn, Start}

/** Expired data takes no memory, even in shards that receive no records. */
final class SweepSuite extends AnyFunSuite {
  private val other = SimulatedKinesis.arn(StreamName("other"))
  private val entry = PutEntry("k", new Array[Byte](1000), None)

  private def after(time: FiniteDuration): Instant = Start.plusNanos(time.toNanos)

  private def enact(settings: Settings, steps: (FiniteDuration, Operation[Any])*): State =
    steps.foldLeft(State.empty(settings)) { case (state, (time, operation)) =>
      val outcome = operation.run(state, after(time))
      assert(outcome.answer.isRight, operation)
      outcome.state
    }

  private def kept(state: State): Vector[Int] = state.streams(Arn).shards.map(_.records.size)

  private def bytes(state: State): Long =
    state.streams.valuesIterator.flatMap(_.shards).map(_.records.chunkBytes).sum

  private val begin = Seq[(FiniteDuration, Operation[Any])](
    Duration.Zero -> CreateStream(Arn, 1),
    1.second -> PutRecord(Arn, entry),
    2.seconds -> CreateStream(other, 1),
    1.hour -> SplitShard(Arn, ShardState.id(0), HashKey(BigInt(1) << 100)),
    2.hours -> PutRecord(Arn, entry)
  )

  test("a change elsewhere removes old records of idle and closed shards") {
    val state = enact(Settings(), begin :+ (24.hours -> PutRecord(other, entry)): _*)
    assert(kept(state) == Vector(1, 0, 1))
    val closed = PutRecord(other, entry).run(state, after(24.hours + 1.minute)).state
    assert(kept(closed) == Vector(0, 0, 1))
    val idle = PutRecord(other, entry).run(closed, after(30.hours)).state
    assert(kept(idle) == Vector(0, 0, 0))
    assert(idle.streams(Arn).shards.forall(_.records.chunkBytes == 0))
  }

  test("a deleted stream leaves nothing behind") {
    val end = Seq[(FiniteDuration, Operation[Any])](3.hours -> DeleteStream(Arn))
    val state = enact(Settings(changeTime = 500.millis), begin ++ end: _*)
    assert(state.streams.size == 2 && bytes(state) > 0)
    val later = DeleteStream(other).run(state, after(3.hours + 1.minute)).state
    assert(later.streams.keySet == Set(other) && bytes(later) == 0)
  }

  test("expired data is removed at most once per minute") {
    val state = enact(Settings(), begin :+ (26.hours -> PutRecord(other, entry)): _*)
    val soon = PutRecord(other, entry).run(state, after(26.hours + 59.seconds)).state
    val later = PutRecord(other, entry).run(soon, after(26.hours + 60.seconds)).state
    assert(soon.sweptAt == state.sweptAt && later.sweptAt == after(26.hours + 1.minute))
    assert(soon.streams(Arn) eq state.streams(Arn))
  }

  test("a stream with thousands of shards covers the whole key space") {
    val settings = Settings(shardLimit = 10000)
    val steps = (Duration.Zero -> CreateStream(Arn, 4096)) +: Seq(8192, 6000).zipWithIndex.map {
      case (target, i) => (i + 1).seconds -> UpdateShardCount(Arn, target)
    }
    val stream = enact(settings, steps: _*).streams(Arn)
    assert(stream.openShards.map(_.hashKeys) == HashKeyRange.even(6000))
    assert(stream.shards.count(_.isOpen) == 6000)
  }
}
