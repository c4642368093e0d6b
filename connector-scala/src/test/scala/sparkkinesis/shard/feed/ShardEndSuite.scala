package sparkkinesis.shard.feed

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.{ChildShard, HashKeyRange, SequenceNumber, Shard}

class ShardEndSuite extends AnyFunSuite {
  private val shard = newStream(1).head
  private val closed = shard.copy(last = Some(SequenceNumber("999")))
  private val merged =
    Shard(shardId(3), Seq(shardId(2), shard.id), HashKeyRange.All, shard.first, None)
  private val child = ChildShard(merged.id, merged.parents, merged.hashKeys)
  private val stranger = merged.copy(id = shardId(4), parents = Seq(shardId(2)))

  test("a shard that is listed as closed has ended, and its children come from the listing") {
    val listed = Seq(closed, stranger, merged)
    assert(ShardEnd.childrenOfClosed(listed, shard.id) === Some(Seq(child)))
  }

  test("a shard that is not listed has ended, with or without listed children") {
    assert(ShardEnd.childrenOfClosed(Seq(merged), shard.id) === Some(Seq(child)))
    assert(ShardEnd.childrenOfClosed(Seq(stranger), shard.id) === Some(Seq.empty))
  }

  test("a shard that is listed as closed, but not all its children, has not provably ended") {
    assert(ShardEnd.childrenOfClosed(Seq(closed, stranger), shard.id) === None)
    val half = HashKeyRange.even(2).head
    assert(ShardEnd.childrenOfClosed(Seq(closed, merged.copy(hashKeys = half)), shard.id) === None)
  }

  test("a shard that is listed as open has not ended") {
    assert(ShardEnd.childrenOfClosed(Seq(stranger, shard), shard.id) === None)
  }
}
