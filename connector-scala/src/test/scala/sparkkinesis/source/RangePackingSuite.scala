package sparkkinesis.source

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators.shardOf
import sparkkinesis.model.Progress

class RangePackingSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val located = for {
    count <- Gen.choose(0, 20)
    places <- Gen.listOfN(count, Gen.option(Gen.oneOf("a", "b", "c")))
  } yield places.zipWithIndex.map { case (place, index) =>
    ShardRange(shardOf(index), Progress.TrimHorizon, Progress.Finished) -> place
  }

  test("every range is in exactly one task, at its own place") {
    forAll(located, Gen.choose(1, 8)) { (located, tasks) =>
      val packed = RangePacking.pack(located, tasks)
      val unpacked = packed.flatMap { case (place, ranges) => ranges.map(_ -> place) }
      assert(unpacked.sortBy(_._1.shard) === located)
      assert(packed.forall(_._2.nonEmpty))
    }
  }

  test("as many tasks as can run at once, or as many as there are places") {
    forAll(located, Gen.choose(1, 8)) { (located, tasks) =>
      val packed = RangePacking.pack(located, tasks)
      assert(packed.size <= math.max(tasks, located.map(_._2).distinct.size))
    }
    val onePlace = (0 until 10).map { index =>
      ShardRange(shardOf(index), Progress.TrimHorizon, Progress.Finished) -> Option("a")
    }
    assert(RangePacking.pack(onePlace, 4).map(_._2.size).sorted === Seq(2, 2, 3, 3))
  }
}
