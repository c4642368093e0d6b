package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model.{Position, Record, SequenceNumber, ServiceLimits, ShardId, StreamArn}
import sparkkinesis.simulator.paging.{IteratorToken, Tokens}
import sparkkinesis.simulator.record.SequenceParts
import sparkkinesis.simulator.state._

final case class GetShardIterator(stream: StreamArn, shard: ShardId, position: Position)
    extends ReadOnly[ShardIterator] {
  override def answer(state: State, now: Instant): Either[Failure, ShardIterator] =
    for {
      found <- state.serving(stream, now)
      from <- found.find(shard, now).toRight(State.noShard(stream, shard))
      at <- resolve(from, now)
    } yield ShardIterator(IteratorToken(stream, found.created, shard, at, now).encoded)

  /**
   * The position may be before the trim horizon, because `GetRecords` skips trimmed records. The
   * latest record is the last one that readers see.
   */
  private[simulator] def resolve(from: ShardState, now: Instant): Either[Failure, Long] =
    position match {
      case Position.TrimHorizon => Right(from.base)
      case Position.Latest => Right(from.visibleEnd(now))
      case Position.AtTimestamp(instant) =>
        Check
          .that(!instant.isAfter(now))(invalid(s"Timestamp $instant", s"it is after now, $now"))
          .map(_ => from.positionAt(ceilMillis(instant)))
      case Position.AtSequenceNumber(number) =>
        checked(from, number).map(_ => from.positionAt(number))
      case Position.AfterSequenceNumber(number) =>
        checked(from, number)
          .filterOrElse(
            _ => from.shard.last.forall(number < _),
            invalid(s"StartingSequenceNumber $number", "it is the last the shard can have")
          )
          .map(_ => from.positionAfter(number))
    }

  private def ceilMillis(instant: Instant): Long = instant.plusNanos(999999).toEpochMilli

  private def checked(from: ShardState, number: SequenceNumber): Check.Checked =
    Check.that(
      SequenceParts.of(number).exists(p => p.shard == from.number && p.created == from.epoch)
    )(invalid(s"StartingSequenceNumber $number", "it did not come from this shard"))

  private def invalid(what: String, why: String): Failure =
    Failure.invalid(
      s"$what for shard $shard in stream ${stream.name} under account ${stream.account} is " +
        s"invalid because $why."
    )
}

/**
 * @param stream stream that the caller names besides the iterator, if any
 * @param limit 1 to 10,000 records
 */
final case class GetRecords(stream: Option[StreamArn], iterator: ShardIterator, limit: Int)
    extends ReadOnly[Page] {
  override def subject: Subject = {
    val place = IteratorToken.parse(iterator.token)
    Subject(place.map(_.stream).orElse(stream), place.map(_.shard))
  }

  override def answer(state: State, now: Instant): Either[Failure, Page] =
    for {
      _ <- Check.range("limit", limit, 1, ServiceLimits.GetRecordsCount)
      place <- IteratorToken
        .parse(iterator.token)
        .filter(place => stream.forall(_ == place.stream))
        .toRight(Failure.invalid("ShardIterator is not one of this stream."))
      _ <- Check.that(!Tokens.isExpired(place.issued, now))(expired(place, now))
      found <- state.serving(place.stream, now)
      from <- found
        .find(place.shard, now)
        .filter(_ => found.created == place.created)
        .toRight(State.noShard(place.stream, place.shard))
    } yield page(found, from, place, now, state.settings.behaviour)

  private def page(
      found: StreamState,
      from: ShardState,
      place: IteratorToken,
      now: Instant,
      behaviour: Behaviour
  ): Page = {
    val start = math.max(place.position, from.positionAt(found.horizonMillis(now)))
    val behind = from.millisBehind(start, now)
    val empties =
      if (behind == 0) 0 else behaviour.emptyPagesBefore(from.numbering, start) - place.empties
    if (empties > 0) {
      val next = place.copy(position = start, issued = now, empties = place.empties + 1)
      page(Vector.empty, next, behind + (empties - 1) * Behaviour.MillisOfEmptyPage)
    } else {
      val records = from.page(start, limit, ServiceLimits.GetRecordsBytes, now)
      val end = start + records.size
      if (from.endsAt(end) && (records.isEmpty || !behaviour.endsLate(from.numbering)))
        Page(records, None, 0L, found.children(from).map(_.childShard))
      else {
        val next = place.copy(position = end, issued = now, empties = 0)
        page(records, next, from.millisBehind(end, now))
      }
    }
  }

  private def page(records: IndexedSeq[Record], next: IteratorToken, behind: Long): Page =
    Page(records, Some(ShardIterator(next.encoded)), behind, Nil)

  private def expired(place: IteratorToken, now: Instant): Failure =
    Failure.Refused(
      ErrorCode.ExpiredIterator,
      s"The iterator of shard ${place.shard} in stream ${place.stream.name} was created at " +
        s"${place.issued}; now, at $now, it is older than ${Tokens.Lifetime}."
    )
}
