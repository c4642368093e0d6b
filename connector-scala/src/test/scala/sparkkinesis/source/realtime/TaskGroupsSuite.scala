package sparkkinesis.source.realtime

import scala.collection.immutable.SortedSet

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators.shardOf
import sparkkinesis.model.StreamShard

class TaskGroupsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private type Groups = Vector[SortedSet[StreamShard]]

  private val shards: Gen[Set[StreamShard]] =
    Gen.choose(1, 40).flatMap(Gen.listOfN(_, Gen.choose(0, 60))).map(_.map(shardOf).toSet)

  private val most: Gen[Int] = Gen.choose(1, 12)

  /** The groups of three batches with any shards, one after the other. */
  private val histories: Gen[Vector[(Set[StreamShard], Int)]] =
    Gen.listOfN(3, Gen.zip(shards, most)).map(_.toVector)

  private def next(before: Groups, shards: Set[StreamShard], most: Int): Groups =
    TaskGroups.of(before, shards, most)

  private def moved(before: Groups, after: Groups): Int = {
    val groups = after.map(group => before.maxBy(_.intersect(group).size).intersect(group).size)
    after.map(_.size).sum - groups.sum
  }

  test("every shard is in one group, there are at most so many, and they are even") {
    forAll(histories) { history =>
      history.foldLeft(Vector.empty: Groups) { case (before, (shards, most)) =>
        val groups = next(before, shards, most)
        assert(groups.flatten.sorted === shards.toVector.sorted)
        assert(groups.size === math.min(most, shards.size))
        assert(groups.forall(_.nonEmpty))
        assert(groups.map(_.size).max - groups.map(_.size).min <= 1)
        groups
      }
    }
  }

  test("nothing moves if nothing changed, also if the groups did not fill up evenly") {
    forAll(histories) { history =>
      val groups = history.foldLeft(Vector.empty: Groups) { case (before, (shards, most)) =>
        next(before, shards, most)
      }
      val (shards, most) = history.last
      assert(next(groups, shards, most).toSet === groups.toSet)
    }
  }

  test("a split moves no shard besides the children, except to make the groups even") {
    forAll(shards, most, Gen.choose(0, 1000)) { (shards, most, choice) =>
      val groups = next(Vector.empty, shards, most)
      val parent = shards.toVector.sorted.apply(choice % shards.size)
      val after = next(groups, shards - parent + shardOf(100) + shardOf(101), most)
      assert(moved(groups, after) <= 2 + most)
      if (shards.size % groups.size != 0) {
        val kept = groups.map(_ - parent)
        assert(
          kept.forall(group => after.exists(group.subsetOf(_))),
          "there is room for the children"
        )
      }
    }
  }

  test("without shards there are no groups") {
    assert(next(Vector(SortedSet(shardOf(0))), Set.empty, 4) === Vector.empty)
  }
}
