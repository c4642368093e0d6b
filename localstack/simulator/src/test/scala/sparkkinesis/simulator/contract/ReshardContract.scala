package sparkkinesis.simulator.contract

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.client.{KinesisException, ListShardsRequest, ShardFilter}
import sparkkinesis.model.{ChildShard, HashKey, HashKeyRange, Position, PutEntry}

/** Listing, splitting, merging and scaling shards. */
trait ReshardContract { this: ContractFixture =>
  contractIf(Capability.SmallShardPages)(
    "ListShards",
    "shards are listed page by page, each one once"
  ) {
    val stream = newStream(7)
    val first = client.listShards(ListShardsRequest.First(stream, ShardFilter.FromTrimHorizon))
    assert(first.shards.size < 7 && first.nextToken.nonEmpty)
    assert(shards(stream).map(_.id).distinct.size == 7)
  }

  contract("SplitShard", "a split closes the shard and opens two children with its hash keys") {
    val stream = newStream(2)
    val parent = shards(stream).head
    put(stream, PutEntry("k", "before".getBytes(UTF_8), Some(parent.hashKeys.first)))
    val start = middle(parent.hashKeys)
    admin.splitShard(stream.name, parent.id, start)
    val all = shards(stream)
    val children = all.filter(_.parents == Seq(parent.id))
    val (low, high) = parent.hashKeys.splitAt(start)
    assert(children.map(_.hashKeys).toSet == Set(low, high))
    assert(!all.find(_.id == parent.id).get.isOpen)
    assert(shards(stream, ShardFilter.AtLatest).map(_.id) == all.filter(_.isOpen).map(_.id))
    assert(client.describeStream(stream).openShards == 3)
    assert(children.forall(_.first > all.find(_.id == parent.id).get.first))
  }

  contract(
    "GetRecords",
    "a closed shard is read to its end, and the last page names the children"
  ) {
    val stream = newStream(1)
    val parent = shards(stream).head
    put(stream, entry("k", "1"))
    put(stream, entry("k", "2"))
    admin.splitShard(stream.name, parent.id, middle(parent.hashKeys))
    val written = put(stream, entry("k", "3")).head
    val Reading(records, children) = readToEnd(stream, parent.id)
    assert(records.map(text) == Seq("1", "2"))
    val found = shards(stream).filter(_.parents.nonEmpty)
    assert(
      children.sortBy(_.id) == found.map(s => ChildShard(s.id, s.parents, s.hashKeys))
    )
    assert(found.map(_.id).contains(written.shard))
    assert(written.sequenceNumber > records.last.sequenceNumber)
    val last = Position.AfterSequenceNumber(records.last.sequenceNumber)
    val after = readToEnd(stream, parent.id, last)
    assert(after.records.isEmpty && after.children.size == 2)
  }

  contract("GetRecords", "an iterator at the tip reaches the end of its shard when that is split") {
    val stream = newStream(1)
    val parent = shards(stream).head
    val iterator = client.shardIterator(stream, parent.id, Position.Latest)
    val tip = client.getRecords(stream, iterator, 10).next.get
    admin.splitShard(stream.name, parent.id, middle(parent.hashKeys))
    val found = pages(stream, tip)(_ => false)
    assert(found.forall(_.records.isEmpty))
    assert(found.last.next.isEmpty && found.last.children.size == 2)
  }

  contract(
    "MergeShards",
    "a merge closes two shards and opens one child with the hash keys of both"
  ) {
    val stream = newStream(2)
    val parents = shards(stream)
    val (left, right) = (parents.head, parents.last)
    put(stream, PutEntry("l", "left".getBytes(UTF_8), Some(left.hashKeys.first)))
    put(stream, PutEntry("r", "right".getBytes(UTF_8), Some(right.hashKeys.last)))
    admin.mergeShards(stream.name, left.id, right.id)
    val child = shards(stream, ShardFilter.AtLatest).head
    assert(child.parents == Seq(left.id, right.id) && child.hashKeys == HashKeyRange.All)
    Seq(left -> "left", right -> "right").foreach { case (shard, data) =>
      val Reading(records, children) = readToEnd(stream, shard.id)
      assert(records.map(text) == Seq(data))
      assert(children == Seq(ChildShard(child.id, Seq(left.id, right.id), child.hashKeys)))
    }
    assert(put(stream, entry("any", "v")).head.shard == child.id)
  }

  contract(
    "SplitShard",
    "a split outside an open shard and a merge of shards that are not adjacent are refused"
  ) {
    val stream = newStream(3)
    val all = shards(stream)
    val (one, two, three) = (all(0), all(1), all(2))
    refused[KinesisException.InvalidArgument](
      admin.splitShard(stream.name, one.id, middle(two.hashKeys))
    )
    refused[KinesisException.InvalidArgument](admin.mergeShards(stream.name, one.id, three.id))
    admin.mergeShards(stream.name, one.id, two.id)
    refused[KinesisException](admin.splitShard(stream.name, one.id, middle(one.hashKeys)))
  }

  contractIf(Capability.RefusesEmptySplits)(
    "SplitShard",
    "a split that leaves a child without hash keys is refused"
  ) {
    val stream = newStream(1)
    refused[KinesisException.InvalidArgument](
      admin.splitShard(stream.name, shards(stream).head.id, HashKey.Min)
    )
  }

  contract("UpdateShardCount", "scaling halves or doubles the shards and loses no record") {
    val stream = newStream(2)
    val keys = (1 to 20).map(i => s"key-$i")
    put(stream, keys.map(entry(_, "1")): _*)
    admin.updateShardCount(stream.name, 4)
    assertTiling(shards(stream, ShardFilter.AtLatest), 4)
    put(stream, keys.map(entry(_, "2")): _*)
    admin.updateShardCount(stream.name, 3)
    assertTiling(shards(stream, ShardFilter.AtLatest), 3)
    put(stream, keys.map(entry(_, "3")): _*)
    val byKey = readAll(stream).groupBy(_.partitionKey.get)
    assert(byKey.keySet == keys.toSet)
    assert(byKey.values.forall(_.map(text) == Seq("1", "2", "3")))
  }

  contractIf(Capability.ScalesEvenly)(
    "UpdateShardCount",
    "scaled shards have equal parts of the hash keys, whatever they had before"
  ) {
    val stream = newStream(1)
    admin.splitShard(stream.name, shards(stream).head.id, HashKey(1000))
    Seq(4, 3, 2, 1).foreach { target =>
      admin.updateShardCount(stream.name, target)
      assertEven(shards(stream, ShardFilter.AtLatest), target)
    }
  }

  contract("UpdateShardCount", "scaling to more than twice or less than half is refused") {
    val stream = newStream(4)
    Seq(1, 9).foreach { target =>
      refused[KinesisException.InvalidArgument](admin.updateShardCount(stream.name, target))
    }
  }
}
