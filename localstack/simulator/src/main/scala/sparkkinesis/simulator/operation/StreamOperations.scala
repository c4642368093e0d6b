package sparkkinesis.simulator.operation

import java.time.Instant

import scala.collection.immutable.SortedMap

import sparkkinesis.client.StreamStatus
import sparkkinesis.model.{RecordDistribution, StreamArn}
import sparkkinesis.simulator.state._

/**
 * @param stream in the region and account of the caller
 * @param maxRecordKibibytes 1,024 to 10,240 for a record with its partition key
 * @param tags at most 50
 */
final case class CreateStream(
    stream: StreamArn,
    shards: Int,
    mode: StreamMode = StreamMode.Provisioned,
    distribution: RecordDistribution = RecordDistribution.UserPartitionKey,
    maxRecordKibibytes: Int = RecordSize.Smallest,
    tags: Map[String, String] = Map.empty
) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    for {
      _ <- Check.range("shardCount", shards, 1, Int.MaxValue)
      _ <- RecordSize.check(maxRecordKibibytes)
      _ <- Tags.checkNew(stream, tags)
      _ <- Modes.check(stream, mode, distribution)
      _ <- Check.that(state.existing(stream, now).isLeft)(State.inUse(stream, "already exists"))
      _ <- state.room(stream, shards, now)
    } yield {
      val config = StreamConfig(
        retention = state.settings.retention,
        maxRecordBytes = RecordSize.bytes(maxRecordKibibytes),
        mode = mode,
        distribution = distribution,
        tags = SortedMap.from(tags)
      )
      (state.updated(StreamState.create(stream, shards, config, state.settings, now)), ())
    }
}

/** @param withConsumers if false, a stream with consumers is not deleted */
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

final case class DescribeStreamSummary(stream: StreamArn) extends ReadOnly[StreamDetails] {
  override def answer(state: State, now: Instant): Either[Failure, StreamDetails] =
    state.existing(stream, now).map(_.details(now))
}
