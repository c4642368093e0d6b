package sparkkinesis.source.feed

import java.time.Instant

import sparkkinesis.client.Moment
import sparkkinesis.model.{ChildShard, Shard, ShardId}
import sparkkinesis.source.StreamClient

/** The listing of a stream as the reader of one shard needs it. Other shards share it. */
private[source] final class ShardStatus(stream: StreamClient, shard: ShardId) {
  import stream.{client, ref, shared}

  private var listedSince = Option.empty[Instant]

  /** The shard exists. An older listing may lack it. */
  def begin(at: Moment): Unit = if (listedSince.isEmpty) listedSince = Some(at.steady)

  /** See [[ShardEnd.childrenOfClosed]]. */
  def childrenOfClosed(at: Moment): Option[Seq[ChildShard]] =
    ShardEnd.childrenOfClosed(shards(at), shard)

  /** Lists all shards of the stream, open and closed. */
  def shards(at: Moment): Seq[Shard] =
    shared.facts.shards(client, ref, listedSince.getOrElse(at.steady), at.steady)

  /** The last listing is doubtful: the next use needs another one. */
  def doubt(at: Moment): Unit = listedSince = Some(at.steady)
}
