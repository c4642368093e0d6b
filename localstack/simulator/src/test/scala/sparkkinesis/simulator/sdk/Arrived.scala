package sparkkinesis.simulator.sdk

import java.nio.charset.StandardCharsets.UTF_8

import sparkkinesis.client.{KinesisClient, ListShardsRequest, ShardFilter}
import sparkkinesis.model.{Position, Record, StreamName, StreamRef}

/** The records of a small stream, read without the connector. */
object Arrived {

  /** The first 10,000 of each shard: the shards in turn, those of one in their order. */
  def records(kinesis: KinesisClient, name: StreamName): Seq[Record] = {
    val stream = StreamRef.ByName(name)
    val all = ListShardsRequest.First(stream, ShardFilter.FromTrimHorizon)
    kinesis.listShards(all).shards.flatMap { shard =>
      val iterator = kinesis.shardIterator(stream, shard.id, Position.TrimHorizon)
      kinesis.getRecords(stream, iterator, 10000).records
    }
  }

  /** Their data. */
  def texts(kinesis: KinesisClient, name: StreamName): Seq[String] =
    records(kinesis, name).map(text)

  def text(record: Record): String = new String(record.data, UTF_8)
}
