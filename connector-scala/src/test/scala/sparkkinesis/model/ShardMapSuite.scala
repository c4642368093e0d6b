package sparkkinesis.model

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ShardMapSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def id(number: Int) = ShardId(f"shardId-$number%012d")

  private def shard(
      number: Int,
      range: HashKeyRange,
      parents: Seq[Int] = Nil,
      isOpen: Boolean = true
  ) =
    Shard(
      id(number),
      parents.map(id),
      range,
      SequenceNumber("1"),
      if (isOpen) None else Some(SequenceNumber("2"))
    )

  private val hashKeys =
    Gen.frequency(
      1 -> Gen.const(HashKey.Min),
      1 -> Gen.const(HashKey.Max),
      8 -> Gen.alphaStr.map(HashKey.of)
    )

  private def owner(map: ShardMap, key: HashKey): ShardId =
    map.shards(map.indexOf(HashKeyBits.hi(key), HashKeyBits.lo(key)))

  test("each hash key belongs to the shard whose range contains it, including both ends") {
    forAll(Gen.choose(1, 40), hashKeys) { (count, key) =>
      val shards = HashKeyRange.even(count).zipWithIndex.map { case (r, i) => shard(i, r) }
      val map = ShardMap.of(shards.reverse).get
      assert(shards.exists(it => it.id == owner(map, key) && it.hashKeys.contains(key)))
      shards.foreach { it =>
        assert(owner(map, it.hashKeys.first) === it.id && owner(map, it.hashKeys.last) === it.id)
      }
    }
  }

  test("closed shards receive no hash key, and their ranges stay known") {
    val halves = HashKeyRange.even(2)
    val listed = Seq(
      shard(0, HashKeyRange.All, isOpen = false),
      shard(1, halves.head, Seq(0)),
      shard(2, halves.last, Seq(0))
    )
    val map = ShardMap.of(listed).get
    assert(map.shards === Seq(id(1), id(2)))
    assert(map.range(id(0)) === Some(HashKeyRange.All) && map.range(id(9)) === None)
  }

  test("a parent that is still listed as open beside its children receives no hash key") {
    val halves = HashKeyRange.even(2)
    val listed =
      Seq(shard(0, HashKeyRange.All), shard(1, halves.head, Seq(0)), shard(2, halves.last, Seq(0)))
    assert(ShardMap.of(listed).get.shards === Seq(id(1), id(2)))
  }

  test("shards that leave out a hash key are no shard map") {
    val thirds = HashKeyRange.even(3)
    def of(ranges: HashKeyRange*) =
      ShardMap.of(ranges.zipWithIndex.map { case (range, i) => shard(i, range) })
    assert(of(thirds: _*).isDefined)
    assert(of(thirds.head, thirds.last) === None)
    assert(of(thirds.init: _*) === None)
    assert(of(thirds.tail: _*) === None)
  }

  test("without an open shard there is no shard map") {
    assert(ShardMap.of(Nil) === None)
    assert(ShardMap.of(Seq(shard(0, HashKeyRange.All, isOpen = false))) === None)
  }

  test("two maps of the same shards are equal") {
    val shards = HashKeyRange.even(3).zipWithIndex.map { case (r, i) => shard(i, r) }
    assert(ShardMap.of(shards) === ShardMap.of(shards.reverse))
    assert(ShardMap.of(shards) !== ShardMap.of(shards.init))
  }
}
