package sparkkinesis.source.position

import java.time.Instant

import sparkkinesis.client.options.OptionException
import sparkkinesis.compat._
import sparkkinesis.model.{Position, SequenceNumber, Shard, ShardId, StreamRef}
import sparkkinesis.shard.SourceException

/**
 * A position that cannot be right.
 *
 * @param condition of the error if it is found when reading begins
 */
private[sparkkinesis] final case class InvalidPosition(condition: String, text: String) {
  def atDefinition: OptionException = new OptionException(OptionException.InvalidOption, text)

  def atStart: SourceException = new SourceException(condition, text)
}

/**
 * The rules for the positions that one option gives for one stream. They are checked when the
 * `DataFrame` is defined, and again when reading begins, by the service's clock and a new listing.
 */
private[sparkkinesis] final class PositionCheck private (
    option: String,
    futureCondition: String,
    stream: StreamRef,
    positions: ByShard[Position]
) {
  import PositionCheck._

  /** Refuses a time after `now`. */
  def future(now: Instant): Option[InvalidPosition] = times.find(_.isAfter(now)).map { time =>
    val text = s"Option '$option' is $time for stream $stream, which is in the future: the time " +
      s"is $now. Use an earlier time or 'latest'."
    InvalidPosition(futureCondition, text)
  }

  /**
   * @param listed the shards when reading begins
   * @throws SourceException if a position is after `now`, or names a shard that is not listed
   */
  def check(listed: Seq[Shard], now: Instant): Unit =
    unlisted(listed, mayHaveExpired = false).orElse(future(now)).foreach(it => throw it.atStart)

  def times: Seq[Instant] = positions.all.flatMap(time)

  /**
   * Refuses a named shard that the stream does not list.
   *
   * @param mayHaveExpired whether to accept a shard older than the newest listed one
   */
  def unlisted(listed: Seq[Shard], mayHaveExpired: Boolean): Option[InvalidPosition] = {
    val newest = listed.flatMap(_.id.number).maxOption
    val unknown = positions.named.keySet.toSeq.diff(listed.map(_.id)).sorted
    unknown.find(id => !mayHaveExpired || id.number.exists(it => newest.forall(_ < it))).map {
      shard =>
        val text = s"Option '$option' names $shard, which stream $stream does not list: the " +
          "shard never existed, or it expired with all its records. The newest shard is number " +
          s"${newest.getOrElse("-")}. Remove the shard from the option. If the stream was " +
          "deleted and created again, use a new checkpoint location."
        InvalidPosition("KINESIS_UNKNOWN_SHARD", text)
    }
  }

  /** Refuses a sequence number that its shard cannot contain. */
  def foreignNumber(listed: Seq[Shard]): Option[InvalidPosition] = {
    val all = for {
      shard <- listed
      position <- positions.named.get(shard.id)
      at <- number(position)
      reason <- reasonAgainst(shard, at)
    } yield foreignNumber(shard.id, at, reason)
    all.headOption
  }

  def foreignNumber(shard: ShardId, number: SequenceNumber, reason: String): InvalidPosition =
    InvalidPosition(
      "KINESIS_UNKNOWN_POSITION",
      s"Option '$option' has sequence number $number for $shard of stream $stream, which this " +
        s"shard cannot contain: $reason. Use the sequence number of a record of this shard."
    )

  /** Refuses an end, of these positions, that is before its start. */
  def before(start: ByShard[Position]): Option[InvalidPosition] = {
    val shards = (start.named.keySet ++ positions.named.keySet).toSeq.sorted
    val places = shards.map(id => (s"$id of stream $stream", start.of(id), positions.of(id))) :+
      ((s"stream $stream", start.others, positions.others))
    val all = for {
      (place, from, upTo) <- places
      (begin, end) <- reversed(from, upTo)
    } yield InvalidPosition(
      OptionException.InvalidOption,
      s"Option '$option' is $end for $place, before its start $begin. Use a later end, or none."
    )
    all.headOption
  }

  private def reversed(from: Position, upTo: Position): Option[(Any, Any)] = {
    val times =
      for (begin <- time(from); end <- time(upTo) if end.isBefore(begin)) yield (begin, end)
    val numbers =
      for (begin <- number(from); end <- number(upTo) if end < begin) yield (begin, end)
    times.orElse(numbers)
  }
}

private[sparkkinesis] object PositionCheck {
  def start(stream: StreamRef, positions: ByShard[Position]): PositionCheck =
    new PositionCheck("startingPosition", "KINESIS_START_IN_FUTURE", stream, positions)

  def end(stream: StreamRef, positions: ByShard[Position]): PositionCheck =
    new PositionCheck("endingPosition", "KINESIS_END_IN_FUTURE", stream, positions)

  private def time(position: Position): Option[Instant] = position match {
    case Position.AtTimestamp(instant) => Some(instant)
    case _ => None
  }

  private def number(position: Position): Option[SequenceNumber] = position match {
    case Position.AtSequenceNumber(at) => Some(at)
    case Position.AfterSequenceNumber(after) => Some(after)
    case _ => None
  }

  /** Why a shard cannot contain a record with that number, according to the listing. */
  def reasonAgainst(shard: Shard, number: SequenceNumber): Option[String] =
    if (number < shard.first) Some(s"its sequence numbers begin at ${shard.first}")
    else {
      // kinesis-local ends every closed shard at 2^63 - 1, which is smaller than the shard's first
      // number.
      val last = shard.last.filter(_ >= shard.first)
      last.filter(number > _).map(last => s"its sequence numbers end at $last")
    }
}
