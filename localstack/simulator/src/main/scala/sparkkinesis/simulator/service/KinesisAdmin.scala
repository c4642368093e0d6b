package sparkkinesis.simulator.service

import sparkkinesis.client.PutResult
import sparkkinesis.model._
import sparkkinesis.simulator.listing.AccountLimits
import sparkkinesis.simulator.state.{ShardMetric, StreamMode}

/**
 * Creates, changes and deletes streams, for tests and demos. Each method returns when the stream is
 * active again or deleted, and may throw any `KinesisException`.
 */
trait KinesisAdmin {
  def createStream(stream: StreamName, shards: Int): Unit

  def deleteStream(stream: StreamName): Unit

  /** Lists all streams, by name. */
  def listStreams(): Seq[StreamName]

  /** Lists all streams in pages of at most `limit`, by `NextToken`. */
  def listStreamsByToken(limit: Int): Seq[StreamName]

  /**
   * Lists all shards within the retention period by `DescribeStream`, in pages of at most `limit`.
   */
  def describeShards(stream: StreamName, limit: Int): Seq[Shard]

  /** Returns the limits of the account, and what it uses. */
  def describeLimits(): AccountLimits

  /** @param start the first hash key of the second child */
  def splitShard(stream: StreamName, shard: ShardId, start: HashKey): Unit

  def mergeShards(stream: StreamName, shard: ShardId, adjacent: ShardId): Unit

  /** @param target half to twice the open shards */
  def updateShardCount(stream: StreamName, target: Int): Unit

  def putRecord(stream: StreamName, entry: PutEntry): PutResult.Written

  /** Creates a stream with four shards, which the service may change. */
  def createOnDemandStream(stream: StreamName): Unit

  def updateMode(stream: StreamName, mode: StreamMode): Unit

  /** @param distribution `Auto` is for on-demand streams only */
  def updateDistribution(stream: StreamName, distribution: RecordDistribution): Unit

  /** @param hours more than the current period, at most 8,760 */
  def increaseRetention(stream: StreamName, hours: Int): Unit

  /** @param hours less than the current period, at least 24 */
  def decreaseRetention(stream: StreamName, hours: Int): Unit

  /** @param kibibytes 1,024 to 10,240 for a record with its partition key */
  def updateMaxRecordSize(stream: StreamName, kibibytes: Int): Unit

  /** @param key id, alias or ARN of a KMS key */
  def startEncryption(stream: StreamName, key: String): Unit

  def stopEncryption(stream: StreamName, key: String): Unit

  /** Adds tags, and replaces those with the same key. A stream has at most 50. */
  def addTags(stream: StreamName, tags: Map[String, String]): Unit

  def removeTags(stream: StreamName, keys: Seq[String]): Unit

  /** Lists the tags in pages of at most `limit`. */
  def tags(stream: StreamName, limit: Int = 10): Map[String, String]

  /** [[addTags]] by ARN. */
  def tagResource(stream: StreamName, tags: Map[String, String]): Unit

  /** [[removeTags]] by ARN. */
  def untagResource(stream: StreamName, keys: Seq[String]): Unit

  /** [[tags]] by ARN. */
  def resourceTags(stream: StreamName): Map[String, String]

  /** Returns the metrics that are measured per shard from now on. */
  def enableMonitoring(stream: StreamName, metrics: Seq[ShardMetric]): Set[ShardMetric]

  /** Returns the metrics that are still measured. */
  def disableMonitoring(stream: StreamName, metrics: Seq[ShardMetric]): Set[ShardMetric]
}
