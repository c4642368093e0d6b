package sparkkinesis.model

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import sparkkinesis.Generators.{hashKey, hashKeyRange, shardGraph}

class HashKeyRangeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** A range, and a key at which it can be split. */
  private val splittable = for {
    range <- hashKeyRange.suchThat(range => range.first < range.last)
    start <- Gen.oneOf(
      Gen.choose(BigInt(1), range.last.value - range.first.value),
      Gen.oneOf(BigInt(1), range.last.value - range.first.value)
    )
  } yield (range, HashKey(range.first.value + start))

  test("a split puts each hash key into one half, and merging the halves restores the range") {
    forAll(splittable, hashKey) { case ((range, start), key) =>
      val (low, high) = range.splitAt(start)
      assert(high.first === start && low.first === range.first && high.last === range.last)
      assert(Seq(low, high).count(_.contains(key)) === (if (range.contains(key)) 1 else 0))
      assert(low.isAdjacentTo(high) && high.isAdjacentTo(low))
      assert(low.merge(high) === range && high.merge(low) === range)
    }
  }

  test("a range without others has exactly the keys that none of them has") {
    forAll(hashKeyRange, Gen.listOf(hashKeyRange), hashKey) { (range, others, key) =>
      val rest = range.without(others)
      val edges = (range +: others).flatMap(it => Seq(it.first, it.last))
      (key +: edges).foreach { at =>
        assert(
          rest.count(_.contains(at)) === (if (range.contains(at) && !others.exists(_.contains(at)))
                                            1
                                          else 0)
        )
        val both = others.headOption.flatMap(range.intersect)
        assert(
          both.exists(_.contains(at)) === (range.contains(at) && others.headOption.exists(
            _.contains(at)
          ))
        )
      }
      assert(rest === rest.sortBy(_.first))
    }
    assert(HashKeyRange.All.without(Nil) === Seq(HashKeyRange.All))
  }

  test("a split that leaves a half empty, and a merge across a gap, are refused") {
    forAll(splittable) { case (range, start) =>
      assertThrows[IllegalArgumentException](range.splitAt(range.first))
      val (low, high) = range.splitAt(start)
      assertThrows[IllegalArgumentException](low.splitAt(high.first))
      assert(!low.isAdjacentTo(low) && !range.isAdjacentTo(low))
      assertThrows[IllegalArgumentException](range.merge(high))
    }
    assertThrows[IllegalArgumentException](HashKeyRange(HashKey.Max, HashKey.Min))
  }

  test("the ranges of a new stream cover all hash keys evenly") {
    forAll(Gen.choose(1, 300)) { count =>
      val ranges = HashKeyRange.even(count)
      assert(ranges.size === count && ranges.reduce(_.merge(_)) === HashKeyRange.All)
      val sizes = ranges.map(range => range.last.value - range.first.value)
      assert(sizes.max - sizes.min <= count)
    }
    assertThrows[IllegalArgumentException](HashKeyRange.even(0))
  }

  test("after any splits and merges, the open shards cover all hash keys exactly once") {
    forAll(shardGraph) { shards =>
      val open = shards.filter(_.isOpen).map(_.hashKeys).sortBy(_.first)
      assert(open.reduce(_.merge(_)) === HashKeyRange.All)
    }
  }
}
