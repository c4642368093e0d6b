package sparkkinesis.source.checkpoint

import java.time.Instant

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, StreamSummary}
import sparkkinesis.model.offset.{Progress, ShardProgress}
import sparkkinesis.model.{Position, SequenceNumber, Shard}
import sparkkinesis.shard.StreamClient
import sparkkinesis.source.position.{ByShard, PositionCheck}

/**
 * Where reading begins in each shard of a stream, as of now. A start before the oldest record is
 * not data loss: reading begins at the oldest record, and the log says so.
 *
 * @param now the service's time
 * @param onMissing called if Kinesis no longer has the record that a start names; may throw
 */
private[sparkkinesis] final class ShardStarts(
    stream: StreamClient,
    start: ByShard[Position],
    summary: StreamSummary,
    now: Instant,
    clock: Clock,
    onMissing: String => Unit = ShardStarts.Warn
) {
  import ShardStarts.log
  import summary.retention

  private val horizon = now.minusMillis(retention.toMillis)
  private val positions = PositionCheck.start(stream.ref, start)
  private val lookup = new RecordLookup(stream, summary.arn, positions, clock)

  /** @throws SourceException if a start is in the future, or names a shard that is not listed */
  def check(listed: Seq[Shard]): Unit = {
    positions.check(listed, now)
    positions.times.filter(_.isBefore(horizon)).distinct.foreach { time =>
      log.warn(
        s"The start $time of stream ${stream.ref} is before $horizon, the age of its oldest " +
          s"records (the stream retains records for $retention). Reading begins at the oldest " +
          "record."
      )
    }
  }

  /**
   * The progress with which reading begins.
   *
   * @throws SourceException if the start is a sequence number that the shard cannot contain
   */
  def of(shard: Shard): ShardProgress = start.of(shard.id) match {
    case Position.Latest => begin(Progress.AtTimestamp(now), Some(now))
    case Position.TrimHorizon => begin(Progress.TrimHorizon, None)
    case Position.AtTimestamp(time) =>
      // Records that expired before the query began are no loss.
      begin(Progress.AtTimestamp(time), Some(time).filter(_.isAfter(horizon)))
    case Position.AtSequenceNumber(number) =>
      begin(Progress.From(number), arrival(shard, number))
    case Position.AfterSequenceNumber(number) =>
      begin(Progress.After(number), arrival(shard, number))
  }

  private def begin(progress: Progress, completeAsOf: Option[Instant]) =
    ShardProgress(progress, Set.empty, completeAsOf)

  private def arrival(shard: Shard, number: SequenceNumber): Option[Instant] =
    // A shard's first number marks its beginning, like the trim horizon. It need not belong to a
    // record.
    if (number == shard.first) None
    else {
      val found = lookup.arrival(shard, number)
      if (found.isEmpty)
        onMissing(
          s"${shard.id} of stream ${stream.ref} has no record $number, which " +
            s"'startingPosition' names. The stream retains records for $retention, since " +
            s"$horizon: records after it may have expired, too."
        )
      found
    }
}

private[sparkkinesis] object ShardStarts {
  private val log = LoggerFactory.getLogger(classOf[ShardStarts])

  /** Warns about the start of a new query, where expired records are no data loss. */
  val Warn: String => Unit = text => log.warn(s"$text Reading begins at the next record.")
}
