package sparkkinesis.simulator

import sparkkinesis.client._
import sparkkinesis.model._

/** Streams whose shards are the service's own affair. */
trait ModeContract { this: ContractFixture =>
  contract("CreateStream", "a new on-demand stream has four shards") {
    val stream = newOnDemandStream()
    assertEven(shards(stream), 4)
    assert(client.describeStream(stream).openShards == 4)
  }

  contract("UpdateShardCount", "an on-demand stream is not scaled, until it is provisioned") {
    val stream = newOnDemandStream()
    refused[KinesisException.InvalidArgument](admin.updateShardCount(stream.name, 8))
    admin.updateMode(stream.name, StreamMode.Provisioned)
    admin.updateShardCount(stream.name, 2)
    assertTiling(shards(stream, ShardFilter.AtLatest), 2)
    admin.updateMode(stream.name, StreamMode.OnDemand)
    refused[KinesisException.InvalidArgument](admin.updateShardCount(stream.name, 4))
    assert(client.describeStream(stream).openShards == 2)
  }

  private def newOnDemandStream(): StreamRef = {
    val name = newName()
    admin.createOnDemandStream(name)
    StreamRef.ByName(name)
  }
}
