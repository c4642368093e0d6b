package sparkkinesis.sink.metrics

import sparkkinesis.model.ServiceLimits

/**
 * What one writer, or several of them, did with one shard. A record counts for the shard that its
 * hash key belongs to, as far as the writer knows.
 *
 * @param stream its name or ARN, as the options or the row name it
 * @param shards number of open shards of the stream; 0 if the service chooses the shards
 * @param records Kinesis records that it acknowledged
 * @param bytes size of those, with their keys
 * @param sleepMillis how long the records of one writer were ready to be sent while the shard could
 *   not take them
 * @param writeMillis how long that writer had lanes of the stream
 */
final case class ShardTraffic(
    stream: String,
    shard: String,
    shards: Int,
    records: Long,
    bytes: Long,
    sleepMillis: Long,
    writeMillis: Long
) {

  /** The part of the shard's quota that the records took. */
  def load: Long = ShardTraffic.load(records, bytes)

  /** The traffic of one shard that two writers have written. */
  def +(other: ShardTraffic): ShardTraffic = ShardTraffic(
    stream,
    shard,
    math.max(shards, other.shards),
    records + other.records,
    bytes + other.bytes,
    math.max(sleepMillis, other.sleepMillis),
    if (other.sleepMillis > sleepMillis) other.writeMillis else writeMillis
  )
}

object ShardTraffic {

  /** A task reports so many shards, because a stream may have thousands. */
  private val MostShards = 16

  def load(records: Long, bytes: Long): Long =
    math.max(
      bytes * ServiceLimits.WriteRecordsPerSecond,
      records * ServiceLimits.WriteBytesPerSecond
    )

  /**
   * The traffic of several writers, one entry per shard: the shards with the largest loads, and the
   * one that was waited for longest.
   */
  def sum(all: Iterable[ShardTraffic]): Vector[ShardTraffic] = {
    val used = all.filter(it => it.records > 0 || it.sleepMillis > 0)
    val shards = used.groupBy(it => (it.stream, it.shard)).values.map(_.reduce(_ + _))
    val byLoad = shards.toVector.sortBy(it => (-it.load, it.stream, it.shard))
    val (most, others) = byLoad.splitAt(MostShards)
    most ++ longestSleep(others)
  }

  def longestSleep(all: Iterable[ShardTraffic]): Option[ShardTraffic] =
    all
      .filter(_.sleepMillis > 0)
      .reduceOption((a, b) => if (b.sleepMillis > a.sleepMillis) b else a)
}
