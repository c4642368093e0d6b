package sparkkinesis.simulator.contract

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, ListShardsRequest, ShardFilter, StreamStatus}
import sparkkinesis.model._

/** Streams: created, described, listed, deleted. */
trait StreamContract { this: ContractFixture =>
  contract(
    "CreateStream",
    "a new stream is active, and its open shards cover the whole hash key space"
  ) {
    val stream = newStream(3)
    val summary = client.describeStream(stream)
    assert(summary.status == StreamStatus.Active)
    assert(summary.arn.name == stream.name)
    assert(summary.openShards == 3)
    assert(summary.retention == 24.hours)
    assert(summary.maxRecordBytes == ServiceLimits.RecordBytes)
    val found = shards(stream)
    assertTiling(found, 3)
    assert(found.map(_.id.name) == (0 to 2).map(i => f"shardId-$i%012d"))
    assert(found.forall(shard => shard.isOpen && shard.parents.isEmpty))
  }

  contractIf(Capability.StartsEvenly)(
    "CreateStream",
    "the shards of a new stream have equal parts of the hash keys"
  ) {
    Seq(1, 2, 3, 7).foreach(count => assertEven(shards(newStream(count)), count))
  }

  contract("DescribeStreamSummary", "a stream is found by its ARN and by its name") {
    val stream = newStream(1)
    val byArn = StreamRef.ByArn(client.describeStream(stream).arn)
    put(byArn, entry("k", "v"))
    assert(client.describeStream(byArn) == client.describeStream(stream))
    assert(shards(byArn) == shards(stream))
    assert(readAll(byArn).map(text) == Seq("v"))
  }

  contract("ListStreams", "streams are listed by name until they are deleted") {
    val (one, two) = (newStream(1).name, newStream(1).name)
    val listed = admin.listStreams()
    assert(listed.contains(one) && listed.contains(two))
    assert(listed.map(_.name) == listed.map(_.name).sorted)
    admin.deleteStream(one)
    assert(!admin.listStreams().contains(one))
    refused[KinesisException.NotFound](client.describeStream(StreamRef.ByName(one)))
  }

  contractIf(Capability.PagesStreams)(
    "ListStreams",
    "streams are listed page by page, each one once"
  ) {
    (1 to 3).foreach(_ => newStream(1))
    assert(admin.listStreamsByToken(2) == admin.listStreams())
  }

  contract("DescribeStream", "a stream is described with its shards, page by page, each one once") {
    val stream = newStream(5)
    assert(admin.describeShards(stream.name, 2) == shards(stream))
    admin.mergeShards(stream.name, shards(stream)(0).id, shards(stream)(1).id)
    val all = admin.describeShards(stream.name, 100)
    assert(all == shards(stream) && all.size == 6 && all.count(_.isOpen) == 4)
    admin.deleteStream(stream.name)
    refused[KinesisException.NotFound](admin.describeShards(stream.name, 100))
  }

  contract("DescribeLimits", "the account's open shards and on-demand streams are counted") {
    val before = admin.describeLimits()
    val stream = newStream(3)
    admin.mergeShards(stream.name, shards(stream)(0).id, shards(stream)(1).id)
    val more = admin.describeLimits()
    assert(more.openShards == before.openShards + 2 && more.shardLimit == before.shardLimit)
    admin.createOnDemandStream(newName())
    assert(admin.describeLimits().onDemandStreams == before.onDemandStreams + 1)
  }

  contract("DeleteStream", "a stream that is created again is empty") {
    val stream = newStream(1)
    put(stream, entry("k", "old"))
    val before = client.describeStream(stream).created
    admin.deleteStream(stream.name)
    pass(1.second)
    admin.createStream(stream.name, 1)
    assert(client.describeStream(stream).created.isAfter(before))
    assert(readAll(stream).isEmpty)
  }

  contract("CreateStream", "a stream that exists cannot be created again") {
    refused[KinesisException.InUse](admin.createStream(newStream(1).name, 1))
  }

  contract("DescribeStreamSummary", "a stream that does not exist is not found") {
    val missing = StreamRef.ByName(StreamName("no-such-stream"))
    val stream = newStream(1)
    val noShard = ShardId("shardId-000000000099")
    refused[KinesisException.NotFound](client.describeStream(missing))
    refused[KinesisException.NotFound](
      client.listShards(ListShardsRequest.First(missing, ShardFilter.AtLatest))
    )
    refused[KinesisException.NotFound](client.putRecords(missing, Seq(entry("k", "v"))))
    refused[KinesisException.NotFound](
      client.shardIterator(missing, ShardId("shardId-000000000000"), Position.TrimHorizon)
    )
    refused[KinesisException.NotFound](
      client.shardIterator(stream, noShard, Position.TrimHorizon)
    )
    refused[KinesisException.NotFound](
      admin.splitShard(stream.name, noShard, middle(HashKeyRange.All))
    )
    refused[KinesisException.NotFound](admin.deleteStream(missing.name))
  }
}
