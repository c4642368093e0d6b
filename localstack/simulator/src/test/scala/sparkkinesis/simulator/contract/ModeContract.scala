package sparkkinesis.simulator.contract

import sparkkinesis.client.{KinesisException, ShardFilter}
import sparkkinesis.model.{RecordDistribution, StreamRef}
import sparkkinesis.simulator.state.StreamMode

/** Streams whose shards are the service's own affair. */
trait ModeContract { this: ContractFixture =>
  contract("CreateStream", "a new on-demand stream has four shards") {
    val stream = newOnDemandStream()
    assertTiling(shards(stream), 4)
    assert(client.describeStream(stream).openShards == 4)
  }

  contractIf(Capability.KeepsOnDemandShards)(
    "UpdateShardCount",
    "an on-demand stream cannot be scaled, split or merged"
  ) {
    val stream = newOnDemandStream()
    val first = shards(stream)(0)
    val second = shards(stream)(1)
    refused[KinesisException.InvalidArgument](admin.updateShardCount(stream.name, 8))
    refused[KinesisException.InvalidArgument](
      admin.splitShard(stream.name, first.id, middle(first.hashKeys))
    )
    refused[KinesisException.InvalidArgument](
      admin.mergeShards(stream.name, first.id, second.id)
    )
    assert(shards(stream).size == 4)
  }

  contract(
    "UpdateStreamMode",
    "a stream keeps its shards when its mode changes, and can be scaled while provisioned"
  ) {
    val stream = newOnDemandStream()
    admin.updateMode(stream.name, StreamMode.Provisioned)
    admin.updateShardCount(stream.name, 2)
    assertTiling(shards(stream, ShardFilter.AtLatest), 2)
    admin.updateMode(stream.name, StreamMode.OnDemand)
    assert(client.describeStream(stream).openShards == 2)
  }

  contractIf(Capability.DistributesRecords)(
    "DescribeStreamSummary",
    "a new stream distributes records by their keys"
  ) {
    Seq(newStream(1), newOnDemandStream()).foreach { stream =>
      val summary = client.describeStream(stream)
      assert(summary.distribution.contains(RecordDistribution.UserPartitionKey))
    }
  }

  contractIf(Capability.DistributesRecords)(
    "UpdateStreamRecordDistributionStrategy",
    "a stream with AUTO distribution reports it, and stays on-demand"
  ) {
    val stream = newOnDemandStream()
    admin.updateDistribution(stream.name, RecordDistribution.Auto)
    assert(client.describeStream(stream).distribution.contains(RecordDistribution.Auto))
    refused[KinesisException.InvalidArgument] {
      admin.updateMode(stream.name, StreamMode.Provisioned)
    }
    admin.updateDistribution(stream.name, RecordDistribution.UserPartitionKey)
    val summary = client.describeStream(stream)
    assert(summary.distribution.contains(RecordDistribution.UserPartitionKey))
  }

  private def newOnDemandStream(): StreamRef = {
    val name = newName()
    admin.createOnDemandStream(name)
    StreamRef.ByName(name)
  }
}
