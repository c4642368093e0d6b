package sparkkinesis.bench

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.{HashKey, HashKeyRange}

class QuotaKeysSuite extends AnyFunSuite {
  private val count = 1600

  private def shardsOf(keys: QuotaKeys): Map[Int, Int] = {
    val ranges = HashKeyRange.even(keys.shards)
    (0 until count)
      .map(keys.of)
      .groupMapReduce { key =>
        ranges.indexWhere(_.contains(HashKey.of(key)))
      }(_ => 1)(_ + _)
  }

  test("even keys: as many records for each shard") {
    for (shards <- Seq(1, 8)) {
      val keys = QuotaKeys(shards, isHot = false)
      assert(shardsOf(keys) === (0 until shards).map(_ -> count / shards).toMap)
      assert(keys.busiest === (0 until shards) && keys.shareOfBusiest === 1.0 / shards)
    }
  }

  test("half hot: one key has half of all, and its shard a part of the rest") {
    val keys = QuotaKeys(8, isHot = true)
    assert(keys.busiest.size === 1)
    assert(shardsOf(keys)(keys.busiest.head) === (count * keys.shareOfBusiest).toInt)
    assert((0 until count).count(keys.of(_) == keys.of(0)) === count / 2)
  }

  test("keys have one length") {
    for (isHot <- Seq(false, true)) {
      val lengths = (0 until count).map(QuotaKeys(8, isHot).of).map(_.length)
      assert(lengths.distinct === Seq(QuotaKeys.KeyLength))
    }
  }
}
