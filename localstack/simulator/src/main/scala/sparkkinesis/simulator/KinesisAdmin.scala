package sparkkinesis.simulator

import sparkkinesis.client.PutResult
import sparkkinesis.model.{HashKey, PutEntry, ShardId, StreamName}

/**
 * Makes and reshapes streams, for tests and demos. Each method returns once the stream is active
 * again (or gone), and may throw any `KinesisException`.
 */
trait KinesisAdmin {
  def createStream(stream: StreamName, shards: Int): Unit

  def deleteStream(stream: StreamName): Unit

  /** All of them, by name. */
  def listStreams(): Seq[StreamName]

  /** @param start the first hash key of the second child */
  def splitShard(stream: StreamName, shard: ShardId, start: HashKey): Unit

  def mergeShards(stream: StreamName, shard: ShardId, adjacent: ShardId): Unit

  /** @param target half to twice the open shards */
  def updateShardCount(stream: StreamName, target: Int): Unit

  def putRecord(stream: StreamName, entry: PutEntry): PutResult.Written
}
