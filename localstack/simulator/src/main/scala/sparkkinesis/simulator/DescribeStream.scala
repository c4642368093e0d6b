package sparkkinesis.simulator

import java.time.Instant

import sparkkinesis.client.StreamSummary
import sparkkinesis.model.{Shard, ShardId, StreamArn}

/**
 * The older call, with the shards within the retention.
 *
 * @param after shards behind this one only
 * @param limit 1 to 10,000 shards
 */
final case class DescribeStream(stream: StreamArn, after: Option[ShardId], limit: Int)
    extends ReadOnly[StreamDescription] {
  override def answer(state: State, now: Instant): Either[Failure, StreamDescription] =
    for {
      _ <- Check.range("limit", limit, 1, ListShards.MaxLimit)
      found <- state.existing(stream, now)
    } yield {
      val shards = found.listed(now).filter(shard => after.forall(_ < shard.id)).map(_.shard)
      StreamDescription(found.summary(now), shards.take(limit), hasMore = shards.size > limit)
    }
}

object DescribeStream {
  val DefaultLimit = 100
}

final case class StreamDescription(summary: StreamSummary, shards: Seq[Shard], hasMore: Boolean)
