package sparkkinesis.client

import java.time.Instant

import scala.annotation.tailrec

import sparkkinesis.model.{Shard, StreamRef}

/**
 * The shards of a stream at one time.
 *
 * @param serverTime time of the listing by the service's clock, if the response contains it
 */
final case class ShardSnapshot(shards: Seq[Shard], serverTime: Option[Instant])

object ShardSnapshot {

  /** Reads all pages of `ListShards`. */
  def list(client: KinesisClient, stream: StreamRef, filter: ShardFilter): ShardSnapshot = {
    @tailrec
    def more(listing: ShardListing, before: Vector[Shard]): Vector[Shard] = {
      val shards = before ++ listing.shards
      listing.nextToken match {
        case Some(token) => more(client.listShards(ListShardsRequest.Next(stream, token)), shards)
        case None => shards
      }
    }
    val first = client.listShards(ListShardsRequest.First(stream, filter))
    ShardSnapshot(more(first, Vector.empty), first.serverTime)
  }
}
