package sparkkinesis.model

/** A shard among those of several streams, two of which may have shards of the same name. */
final case class StreamShard(stream: StreamArn, shard: ShardId) extends Ordered[StreamShard] {
  override def compare(that: StreamShard): Int = {
    val byStream = stream.compare(that.stream)
    if (byStream != 0) byStream else shard.compare(that.shard)
  }

  override def toString: String = s"$shard of stream $stream"
}
