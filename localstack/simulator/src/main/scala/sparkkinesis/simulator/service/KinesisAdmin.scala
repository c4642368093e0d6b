package sparkkinesis.simulator.service

import sparkkinesis.client.PutResult
import sparkkinesis.model._
import sparkkinesis.simulator.listing.AccountLimits
import sparkkinesis.simulator.state.{ShardMetric, StreamMode}

/**
 * Makes and reshapes streams, for tests and demos. Each method returns once the stream is active
 * again (or gone), and may throw any `KinesisException`.
 */
trait KinesisAdmin {
  def createStream(stream: StreamName, shards: Int): Unit

  def deleteStream(stream: StreamName): Unit

  /** All of them, by name. */
  def listStreams(): Seq[StreamName]

  /** All of them, by pages of `limit` at most that `NextToken` leads to. */
  def listStreamsByToken(limit: Int): Seq[StreamName]

  /** All shards within the retention by `DescribeStream`, by pages of `limit` at most. */
  def describeShards(stream: StreamName, limit: Int): Seq[Shard]

  /** Of the account, and what it has. */
  def describeLimits(): AccountLimits

  /** @param start the first hash key of the second child */
  def splitShard(stream: StreamName, shard: ShardId, start: HashKey): Unit

  def mergeShards(stream: StreamName, shard: ShardId, adjacent: ShardId): Unit

  /** @param target half to twice the open shards */
  def updateShardCount(stream: StreamName, target: Int): Unit

  def putRecord(stream: StreamName, entry: PutEntry): PutResult.Written

  /** Of four shards, which the service changes as it likes. */
  def createOnDemandStream(stream: StreamName): Unit

  def updateMode(stream: StreamName, mode: StreamMode): Unit

  /** @param distribution `Auto` is for on-demand streams only */
  def updateDistribution(stream: StreamName, distribution: RecordDistribution): Unit

  /** @param hours more than now, at most 8,760 */
  def increaseRetention(stream: StreamName, hours: Int): Unit

  /** @param hours fewer than now, at least 24 */
  def decreaseRetention(stream: StreamName, hours: Int): Unit

  /** @param kibibytes 1,024 to 10,240 for a record with its partition key */
  def updateMaxRecordSize(stream: StreamName, kibibytes: Int): Unit

  /** @param key id, alias or ARN of a KMS key */
  def startEncryption(stream: StreamName, key: String): Unit

  def stopEncryption(stream: StreamName, key: String): Unit

  /** A tag of a key that exists replaces it; a stream has 50 at most. */
  def addTags(stream: StreamName, tags: Map[String, String]): Unit

  def removeTags(stream: StreamName, keys: Seq[String]): Unit

  /** By pages of `limit` at most. */
  def tags(stream: StreamName, limit: Int = 10): Map[String, String]

  /** [[addTags]] by ARN. */
  def tagResource(stream: StreamName, tags: Map[String, String]): Unit

  /** [[removeTags]] by ARN. */
  def untagResource(stream: StreamName, keys: Seq[String]): Unit

  /** [[tags]] by ARN. */
  def resourceTags(stream: StreamName): Map[String, String]

  /** Returns what is measured of each shard from now on. */
  def enableMonitoring(stream: StreamName, metrics: Seq[ShardMetric]): Set[ShardMetric]

  /** Returns what is still measured. */
  def disableMonitoring(stream: StreamName, metrics: Seq[ShardMetric]): Set[ShardMetric]
}
