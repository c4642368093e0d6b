package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.client.StreamStatus
import sparkkinesis.model.{HashKey, ShardId, StreamArn}
import sparkkinesis.simulator.state._

/** @param start the first hash key of the second child */
final case class SplitShard(stream: StreamArn, shard: ShardId, start: HashKey)
    extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    for {
      found <- state.changeable(stream, now)
      _ <- Modes.provisioned(found)
      _ <- state.room(stream, 1, now)
      parent <- Reshard.open(found, shard, now)
      range = parent.hashKeys
      _ <- Check.that(range.first.value + 1 < start.value && start < range.last)(
        Failure.invalid(
          s"NewStartingHashKey $start does not lie well inside the range $range of shard $shard " +
            s"in stream ${stream.name}."
        )
      )
    } yield (Reshard.done(state, found.split(parent, start, now), now), ())
}

final case class MergeShards(stream: StreamArn, shard: ShardId, adjacent: ShardId)
    extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    for {
      found <- state.changeable(stream, now)
      _ <- Modes.provisioned(found)
      one <- Reshard.open(found, shard, now)
      other <- Reshard.open(found, adjacent, now)
      _ <- Check.that(one.hashKeys.isAdjacentTo(other.hashKeys))(
        Failure.invalid(
          s"Shards $shard and $adjacent in stream ${stream.name} are not an adjacent pair."
        )
      )
    } yield (Reshard.done(state, found.merge(one, other, now), now), ())
}

/**
 * Uniform scaling: splits open shards where the new ones begin, and merges the parts between, so
 * that short-lived shards appear as in the service. See `Behaviour.reshardInterval`.
 *
 * @param target half to twice the number of open shards
 */
final case class UpdateShardCount(stream: StreamArn, target: Int)
    extends Changing[ShardCountUpdate] {
  override def change(state: State, now: Instant): Either[Failure, (State, ShardCountUpdate)] =
    for {
      found <- state.changeable(stream, now)
      _ <- Modes.provisioned(found)
      current = found.open.size
      _ <- Check.range("targetShardCount", target, 1, Int.MaxValue)
      _ <- Check.that(target.toLong <= current * 2L && target * 2L >= current)(
        Failure.invalid(
          s"TargetShardCount $target is not half to twice the $current open shards of " +
            s"${stream.name}."
        )
      )
      _ <- state.room(stream, target - current, now)
    } yield (state.scaled(found, target, now), ShardCountUpdate(found.arn, current, target))
}

final case class ShardCountUpdate(stream: StreamArn, current: Int, target: Int)

private[simulator] object Reshard {

  /** The shard if it can be split or merged. */
  def open(stream: StreamState, id: ShardId, now: Instant): Either[Failure, ShardState] =
    stream.find(id, now).toRight(State.noShard(stream.arn, id)).flatMap { shard =>
      if (shard.isOpen) Right(shard)
      else
        Left(
          Failure.invalid(
            s"Shard $id in stream ${stream.arn.name} is closed: it has been merged or split."
          )
        )
    }

  def done(state: State, stream: StreamState, now: Instant): State =
    state.updated(
      stream
        .trimmed(now)
        .copy(change = Change(StreamStatus.Updating, state.settings.changed(now)))
    )
}
