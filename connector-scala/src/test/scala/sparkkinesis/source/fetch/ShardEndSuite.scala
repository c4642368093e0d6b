package sparkkinesis.source.fetch

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.client.{ListShardsRequest, ShardFilter, ShardLister, ShardListing}
import sparkkinesis.model.{ChildShard, HashKeyRange, SequenceNumber, Shard}
import sparkkinesis.source.ScriptedKinesis
import sparkkinesis.source.ScriptedKinesis._

class ShardEndSuite extends AnyFunSuite {
  private val shard = newStream(1).head
  private val closed = shard.copy(last = Some(SequenceNumber("999")))
  private val merged =
    Shard(shardId(3), Seq(shardId(2), shard.id), HashKeyRange.All, shard.first, None)
  private val child = ChildShard(merged.id, merged.parents, merged.hashKeys)
  private val stranger = merged.copy(id = shardId(4), parents = Seq(shardId(2)))

  private def confirmed(kinesis: ScriptedKinesis, children: ChildShard*) =
    ShardEnd.confirmed(shard.id, end(1 to 1, children: _*)) {
      ShardLister.list(kinesis, stream, ShardFilter.FromTrimHorizon).shards
    }

  test("a page with children is the end of the shard, without another call") {
    assert(confirmed(new ScriptedKinesis(), child) === Some(Seq(child)))
  }

  test("a shard that is listed as closed has ended, and its children come from the listing") {
    val kinesis = new ScriptedKinesis().listing(listing(closed, stranger, merged))
    assert(confirmed(kinesis) === Some(Seq(child)))
    assert(kinesis.listed === Seq(ListShardsRequest.First(stream, ShardFilter.FromTrimHorizon)))
  }

  test("a shard that is not listed has ended, with or without listed children") {
    assert(confirmed(new ScriptedKinesis().listing(listing(merged))) === Some(Seq(child)))
    assert(confirmed(new ScriptedKinesis().listing(listing(stranger))) === Some(Seq.empty))
  }

  test("a shard that is listed as open has not ended, on any page of the listing") {
    assert(confirmed(new ScriptedKinesis().listing(listing(shard))) === None)
    val paged = new ScriptedKinesis()
      .listing(ShardListing(Seq(stranger), Some("more"), None))
      .listing(listing(shard))
    assert(confirmed(paged) === None)
  }
}
