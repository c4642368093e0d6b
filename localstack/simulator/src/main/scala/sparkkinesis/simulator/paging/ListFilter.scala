package sparkkinesis.simulator.paging

import java.time.Instant

import sparkkinesis.model.ShardId
import sparkkinesis.simulator.state.{Check, Failure, ShardState, StreamState}

/** `ShardFilter` of the service: which shards to list. */
sealed trait ListFilter

object ListFilter {

  /** Selects all shards within the retention period, like no filter. */
  case object FromTrimHorizon extends ListFilter

  /** Shards that were open at the trim horizon. */
  case object AtTrimHorizon extends ListFilter

  /** Open shards. */
  case object AtLatest extends ListFilter

  final case class AfterShardId(id: ShardId) extends ListFilter

  /** Shards that were open at that time. */
  final case class AtTimestamp(instant: Instant) extends ListFilter

  /** Shards that were open at that time or later. */
  final case class FromTimestamp(instant: Instant) extends ListFilter

  private[simulator] def check(
      filter: ListFilter,
      stream: StreamState,
      now: Instant
  ): Check.Checked = filter match {
    case AtTimestamp(instant) =>
      Check.that(instant.toEpochMilli >= stream.horizonMillis(now) && !instant.isAfter(now))(
        Failure.invalid(
          s"Timestamp $instant of the shard filter is before the trim horizon of stream " +
            s"${stream.arn.name} or after now, $now."
        )
      )
    case _ => Right(())
  }

  private[simulator] def includes(
      filter: ListFilter,
      stream: StreamState,
      shard: ShardState,
      now: Instant
  ): Boolean = filter match {
    case FromTrimHorizon => true
    case AtTrimHorizon =>
      wasOpen(shard, math.max(stream.horizonMillis(now), stream.created.toEpochMilli))
    case AtLatest => shard.isOpen
    case AfterShardId(id) => shard.id > id
    case AtTimestamp(instant) => wasOpen(shard, instant.toEpochMilli)
    case FromTimestamp(instant) => shard.closed.forall(!_.isBefore(instant))
  }

  private def wasOpen(shard: ShardState, millis: Long): Boolean =
    shard.created.toEpochMilli <= millis && shard.closed.forall(_.toEpochMilli > millis)
}
