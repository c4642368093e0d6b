package sparkkinesis.source.position

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import org.slf4j.LoggerFactory

import sparkkinesis.client.Clock
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{SequenceNumber, Shard, StreamRef}
import sparkkinesis.source.{SourceException, StreamClient}

/**
 * How a shard begins.
 *
 * @param completeAsOf what arrives later is owed; none where that may be trimmed already
 */
final case class ShardStart(progress: Progress, completeAsOf: Option[Instant])

/**
 * Where reading begins in each of a stream's shards, as of now. A start that lies before the oldest
 * record kept is no loss: reading begins at that record, and the log says so.
 *
 * @param now the service's time
 * @param missing is told where a start's record is not kept any more, and may throw
 */
final class ShardStarts(
    stream: StreamClient,
    start: ByShard[StartingPosition],
    retention: FiniteDuration,
    now: Instant,
    clock: Clock,
    missing: String => Unit = ShardStarts.Warn
) {
  import ShardStarts.log

  private val horizon = now.minusMillis(retention.toMillis)

  /** @throws SourceException where a start lies in the future, or in a shard that is not listed */
  def check(listed: Seq[Shard]): Unit = {
    ShardStarts.requireListed("startingPosition", stream.ref, start, listed)
    val instants = start.all.toSeq.collect { case StartingPosition.AtTimestamp(instant) => instant }
    instants.find(_.isAfter(now)).foreach { instant =>
      throw new SourceException(
        "KINESIS_START_IN_FUTURE",
        s"Option 'startingPosition' is '$instant' for stream ${stream.ref}, and by the service's " +
          s"clock it is $now. Use 'latest' to read what comes from now on."
      )
    }
    instants.filter(_.isBefore(horizon)).distinct.foreach { instant =>
      log.warn(
        s"Stream ${stream.ref} keeps records for $retention, and the start $instant lies before " +
          s"$horizon: reading begins at the oldest record kept."
      )
    }
  }

  /** @throws SourceException where the start is a sequence number that the shard cannot have */
  def of(shard: Shard): ShardStart = start.of(shard.id) match {
    case StartingPosition.Latest => ShardStart(Progress.AtTimestamp(now), Some(now))
    case StartingPosition.TrimHorizon => ShardStart(Progress.TrimHorizon, None)
    case StartingPosition.AtTimestamp(instant) =>
      // What is trimmed already is not owed.
      ShardStart(Progress.AtTimestamp(instant), Some(instant).filter(_.isAfter(horizon)))
    case StartingPosition.At(number) => ShardStart(Progress.From(number), arrival(shard, number))
    case StartingPosition.After(number) =>
      ShardStart(Progress.After(number), arrival(shard, number))
  }

  private def arrival(shard: Shard, number: SequenceNumber): Option[Instant] = {
    val record = new RecordLookup(stream, clock).find("startingPosition", shard, number)
    // The lowest number of a shard stands for its beginning, and need be no record's.
    if (record.isEmpty && number != shard.first)
      missing(
        s"${shard.id} of stream ${stream.ref} has no record $number, where 'startingPosition' begins " +
          s"(it keeps records for $retention, since $horizon): what was behind it may be gone too."
      )
    record.map(it => Instant.ofEpochMilli(it.arrivalMillis))
  }
}

object ShardStarts {
  private val log = LoggerFactory.getLogger(classOf[ShardStarts])

  /** @throws SourceException where positions name a shard that is not listed */
  def requireListed(
      option: String,
      stream: StreamRef,
      positions: ByShard[_],
      listed: Seq[Shard]
  ): Unit =
    positions.named.keys.toSeq.sorted.find(id => !listed.exists(_.id == id)).foreach { unknown =>
      throw new SourceException(
        "KINESIS_UNKNOWN_SHARD",
        s"Option '$option' names $unknown, and stream $stream does not list it: it never was, or it " +
          "has expired with all its records. Leave it out."
      )
    }

  /** A query that begins does so at the oldest record kept: no loss, but worth saying. */
  val Warn: String => Unit = text => log.warn(s"$text Reading begins at the next record kept.")
}
