package sparkkinesis.simulator

import java.time.Instant

import sparkkinesis.client.{StreamStatus, StreamSummary}
import sparkkinesis.model.{StreamArn, StreamName}

/** @param stream its region and account are the caller's */
final case class CreateStream(stream: StreamArn, shards: Int) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] = {
    val open = state.streams.valuesIterator.filterNot(_.isGone(now)).map(_.open.size).sum
    for {
      _ <- Check.range("shardCount", shards, 1, Int.MaxValue)
      _ <- Check.that(state.existing(stream, now).isLeft)(State.inUse(stream, "already exists"))
      _ <- Check.that(open.toLong + shards <= state.settings.shardLimit)(
        Failure.Refused(
          ErrorCode.LimitExceeded,
          s"$shards more shards would exceed the limit of ${state.settings.shardLimit}; " +
            s"$open are open."
        )
      )
    } yield (state.updated(StreamState.create(stream, shards, state.settings, now)), ())
  }
}

/** @param withConsumers otherwise a stream that has consumers is not deleted */
final case class DeleteStream(stream: StreamArn, withConsumers: Boolean = false)
    extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    for {
      found <- state.existing(stream, now)
      _ <- Check.that(withConsumers || found.consumers.count(now) == 0)(
        State.inUse(stream, "has consumers, and EnforceConsumerDeletion is not set")
      )
    } yield {
      val until = state.settings.changed(now)
      if (until == now) (state.copy(streams = state.streams - stream), ())
      else (state.updated(found.copy(change = Change(StreamStatus.Deleting, until))), ())
    }
}

final case class DescribeStreamSummary(stream: StreamArn) extends ReadOnly[StreamSummary] {
  override def answer(state: State, now: Instant): Either[Failure, StreamSummary] =
    state.existing(stream, now).map(_.summary(now))
}

/**
 * @param region of the caller, as `account`
 * @param after names behind this one only
 * @param limit 1 to 10,000 streams
 */
final case class ListStreams(
    region: String,
    account: String,
    after: Option[StreamName],
    limit: Int
) extends ReadOnly[StreamListing] {
  override def answer(state: State, now: Instant): Either[Failure, StreamListing] =
    Check.range("limit", limit, 1, ListStreams.MaxLimit).map { _ =>
      val found = state.streams.valuesIterator
        .filter(s => s.arn.region == region && s.arn.account == account && !s.isGone(now))
        .map(_.summary(now))
        .filter(s => after.forall(_.name < s.arn.name.name))
        .toVector
        .sortBy(_.arn.name.name)
      StreamListing(found.take(limit), hasMore = found.size > limit)
    }
}

object ListStreams {
  val DefaultLimit = 100
  val MaxLimit = 10000
}

/** By name. */
final case class StreamListing(streams: Seq[StreamSummary], hasMore: Boolean)
