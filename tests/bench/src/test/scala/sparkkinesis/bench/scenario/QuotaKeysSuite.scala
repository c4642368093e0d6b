package sparkkinesis.bench.scenario

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.{HashKey, HashKeyRange}

class QuotaKeysSuite extends AnyFunSuite {
  private val count = 1600

  private def shardOf(shards: Int)(key: String): Int =
    HashKeyRange.even(shards).indexWhere(_.contains(HashKey.of(key)))

  private def shardsOf(keys: QuotaKeys): Map[Int, Int] =
    (0 until count).map(keys.of).groupMapReduce(shardOf(keys.shards))(_ => 1)(_ + _)

  test("even keys give each shard the same number of records") {
    for (shards <- Seq(1, 8)) {
      val keys = QuotaKeys(shards, isHot = false)
      assert(shardsOf(keys) === (0 until shards).map(_ -> count / shards).toMap)
      assert(keys.busiest === (0 until shards) && keys.others.isEmpty)
      assert(keys.shareOfShard === 1.0 / shards)
    }
  }

  test("a hot key has as many records as a shard of even keys, and its shard has twice as many") {
    val keys = QuotaKeys(8, isHot = true)
    val all = 9 * 16
    val shards =
      (0 until all).map(keys.of).groupBy(shardOf(8)).map { case (n, its) => n -> its.size }
    assert(keys.others.map(shards).distinct === Seq(16) && keys.others.size === 7)
    assert(keys.busiest.map(shards) === Seq(32))
    assert(keys.shareOfShard * all === 16)
  }

  test("beside rows without a key, a hot key has the quota of one shard") {
    val keys = QuotaKeys(8, isHot = true, areOthersRandom = true)
    val (hot, others) = (0 until count).map(keys.of).partition(_ == keys.of(0))
    assert(hot.size === count / 8 && others.distinct.size === others.size)
    assert(keys.busiest === (0 until 8) && keys.others.isEmpty && keys.shareOfShard === 1.0 / 8)
  }

  test("all keys have the same length") {
    val beside = QuotaKeys(8, isHot = true, areOthersRandom = true)
    Seq(QuotaKeys(8, isHot = false), QuotaKeys(8, isHot = true), beside).foreach { keys =>
      val lengths = (0 until count).map(keys.of).map(_.length)
      assert(lengths.distinct === Seq(QuotaKeys.KeyLength))
    }
  }
}
