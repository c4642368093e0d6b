package sparkkinesis.simulator.paging

import java.time.Instant

import sparkkinesis.model.ShardId
import sparkkinesis.simulator.state.{Check, Failure, ShardState, StreamState}

/** `ShardFilter` of the service: which shards to list. */
sealed trait ListFilter

object ListFilter {

  /** All within the retention; also what no filter means. */
  case object FromTrimHorizon extends ListFilter

  /** Those that were open when the oldest record kept could have arrived. */
  case object AtTrimHorizon extends ListFilter

  /** The open ones. */
  case object AtLatest extends ListFilter

  final case class AfterShardId(id: ShardId) extends ListFilter

  /** Those that were open then. */
  final case class AtTimestamp(instant: Instant) extends ListFilter

  /** Those that were open then or later. */
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
