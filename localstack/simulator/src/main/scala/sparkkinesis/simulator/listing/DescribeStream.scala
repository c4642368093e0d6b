package sparkkinesis.simulator.listing

import java.time.Instant

import sparkkinesis.model.{Shard, ShardId, StreamArn}
import sparkkinesis.simulator.operation.ReadOnly
import sparkkinesis.simulator.state.{Check, Failure, State, StreamDetails}

/**
 * Describes a stream, with its shards within the retention period.
 *
 * @param after only shards after this one
 * @param limit 1 to 10,000; a response has at most 100 shards
 */
final case class DescribeStream(stream: StreamArn, after: Option[ShardId], limit: Int)
    extends ReadOnly[StreamDescription] {
  override def answer(state: State, now: Instant): Either[Failure, StreamDescription] =
    for {
      _ <- Check.range("limit", limit, 1, ListShards.MaxLimit)
      found <- state.existing(stream, now)
    } yield {
      val shards = found
        .listed(now, state.settings.listLag)
        .filter(shard => after.forall(_ < shard.id))
        .map(_.shard)
      val count = math.min(limit, DescribeStream.DefaultLimit)
      StreamDescription(found.details(now), shards.take(count), hasMore = shards.size > count)
    }
}

object DescribeStream {
  val DefaultLimit = 100
}

final case class StreamDescription(details: StreamDetails, shards: Seq[Shard], hasMore: Boolean)
