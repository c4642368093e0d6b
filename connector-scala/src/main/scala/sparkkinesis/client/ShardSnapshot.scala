package sparkkinesis.client

import java.time.Instant

import sparkkinesis.model.Shard

/**
 * The shards of a stream at one time.
 *
 * @param serverTime time of the listing by the service's clock, if the response contains it
 */
final case class ShardSnapshot(shards: Seq[Shard], serverTime: Option[Instant])
