package sparkkinesis.source.simulation

import sparkkinesis.client.{KinesisException, ShardFilter, ShardLister}
import sparkkinesis.model.{Position, Shard, StreamRef}

/** Another consumer of the streams. It uses their quotas, and never waits. */
final class Rival(world: World) {
  import world._

  def read(): Unit = producers.map(_.stream).foreach { stream =>
    try
      ShardLister
        .list(kinesis, stream, ShardFilter.AtLatest)
        .shards
        .filter(_ => hardships.nextBoolean())
        .foreach(read(stream, _))
    catch { case _: KinesisException => }
  }

  private def read(stream: StreamRef, shard: Shard): Unit = {
    val position =
      if (hardships.nextInt(4) == 0) Position.TrimHorizon else Position.Latest
    val iterator = kinesis.shardIterator(stream, shard.id, position)
    kinesis.getRecords(stream, iterator, 10000): Unit
  }
}
