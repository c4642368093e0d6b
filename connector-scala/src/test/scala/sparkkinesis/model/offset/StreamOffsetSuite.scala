package sparkkinesis.model.offset

import java.time.Instant

import scala.collection.immutable.SortedMap

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators._
import sparkkinesis.model.SequenceNumber

class StreamOffsetSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val five = SequenceNumber("5")

  private def offsetOf(shards: (Int, Progress, Set[Int])*) = StreamOffset(
    arn,
    Instant.EPOCH,
    SortedMap.from(shards.map { case (id, progress, waitsFor) =>
      shardId(id) -> ShardProgress(progress, waitsFor.map(shardId))
    })
  )

  test("settled removes finished shards and the waits for them, and changes nothing else") {
    forAll(streamOffset) { offset =>
      val settled = offset.settled
      val finished = offset.shards.filter(_._2.progress == Progress.Finished).keySet
      assert(settled.shards.keySet === offset.shards.keySet -- finished)
      settled.shards.foreach { case (id, shard) =>
        assert(shard.progress === offset.shards(id).progress)
        assert(shard.waitsFor === offset.shards(id).waitsFor -- finished)
      }
      assert(settled.settled === settled)
      assert(settled.copy(shards = offset.shards) === offset)
    }
  }

  test("readable has exactly the shards that wait for no parent once the offset is settled") {
    forAll(streamOffset) { offset =>
      val expected = offset.settled.shards.filter(_._2.waitsFor.isEmpty).map { case (id, shard) =>
        id -> shard.progress
      }
      assert(offset.readable === expected)
      assert(!offset.readable.values.exists(_ == Progress.Finished))
    }
  }

  test("a child is read only when each parent was finished in an earlier offset") {
    val before =
      offsetOf((0, Progress.After(five), Set.empty), (2, Progress.TrimHorizon, Set(0, 1)))
    assert(before.readable.keySet === Set(shardId(0)))
    val oneParentDone =
      offsetOf((0, Progress.Finished, Set.empty), (2, Progress.TrimHorizon, Set(0, 1)))
    assert(oneParentDone.readable.isEmpty, "1 is unknown, which is not finished")
    val bothDone = offsetOf(
      (0, Progress.Finished, Set.empty),
      (1, Progress.Finished, Set.empty),
      (2, Progress.TrimHorizon, Set(0, 1))
    )
    assert(bothDone.readable === Map(shardId(2) -> Progress.TrimHorizon))
  }
}
