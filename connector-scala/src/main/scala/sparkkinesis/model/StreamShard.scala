package sparkkinesis.model

/** A shard of a stream. Shards of different streams may have the same ID. */
private[sparkkinesis] final case class StreamShard(stream: StreamArn, shard: ShardId)
    extends Ordered[StreamShard] {
  override def compare(that: StreamShard): Int = {
    val byStream = stream.compare(that.stream)
    if (byStream != 0) byStream else shard.compare(that.shard)
  }

  override def toString: String = s"$shard of stream $stream"
}
