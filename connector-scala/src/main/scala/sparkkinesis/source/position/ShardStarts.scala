package sparkkinesis.source.position

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import org.slf4j.LoggerFactory

import sparkkinesis.client.Clock
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{Position, SequenceNumber, Shard}
import sparkkinesis.source.StreamClient

/**
 * Where reading begins in a shard.
 *
 * @param completeAsOf see [[sparkkinesis.model.offset.ShardProgress]]
 */
final case class ShardStart(progress: Progress, completeAsOf: Option[Instant])

/**
 * Where reading begins in each shard of a stream, as of now. A start before the oldest record is
 * not data loss: reading begins at the oldest record, and the log says so.
 *
 * @param now the service's time
 * @param onMissing called if Kinesis no longer has the record that a start names; may throw
 */
final class ShardStarts(
    stream: StreamClient,
    start: ByShard[Position],
    retention: FiniteDuration,
    now: Instant,
    clock: Clock,
    onMissing: String => Unit = ShardStarts.Warn
) {
  import ShardStarts.log

  private val horizon = now.minusMillis(retention.toMillis)
  private val positions = PositionCheck.start(stream.ref, start)

  /** @throws SourceException if a start is in the future, or names a shard that is not listed */
  def check(listed: Seq[Shard]): Unit = {
    positions
      .unlisted(listed, mayHaveExpired = false)
      .orElse(positions.future(now))
      .foreach(invalid => throw invalid.atStart)
    positions.times.filter(_.isBefore(horizon)).distinct.foreach { time =>
      log.warn(
        s"The start $time of stream ${stream.ref} is before $horizon, the age of its oldest " +
          s"records (the stream retains records for $retention). Reading begins at the oldest " +
          "record."
      )
    }
  }

  /** @throws SourceException if the start is a sequence number that the shard cannot contain */
  def of(shard: Shard): ShardStart = start.of(shard.id) match {
    case Position.Latest => ShardStart(Progress.AtTimestamp(now), Some(now))
    case Position.TrimHorizon => ShardStart(Progress.TrimHorizon, None)
    case Position.AtTimestamp(time) =>
      // Records that expired before the query began are no loss.
      ShardStart(Progress.AtTimestamp(time), Some(time).filter(_.isAfter(horizon)))
    case Position.AtSequenceNumber(number) =>
      ShardStart(Progress.From(number), arrival(shard, number))
    case Position.AfterSequenceNumber(number) =>
      ShardStart(Progress.After(number), arrival(shard, number))
  }

  private def arrival(shard: Shard, number: SequenceNumber): Option[Instant] = {
    val record = new RecordLookup(stream, positions, clock).find(shard, number)
    // A shard's first number marks its beginning. It need not belong to a record.
    if (record.isEmpty && number != shard.first)
      onMissing(
        s"${shard.id} of stream ${stream.ref} has no record $number, which 'startingPosition' " +
          s"names. The stream retains records for $retention, since $horizon: records after it " +
          "may have expired, too."
      )
    record.map(it => Instant.ofEpochMilli(it.arrivalMillis))
  }
}

object ShardStarts {
  private val log = LoggerFactory.getLogger(classOf[ShardStarts])

  /** Warns about the start of a new query, where expired records are no data loss. */
  val Warn: String => Unit = text => log.warn(s"$text Reading begins at the next record.")
}
