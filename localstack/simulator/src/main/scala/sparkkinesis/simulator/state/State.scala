package sparkkinesis.simulator.state

import java.time.Instant
import java.time.temporal.ChronoUnit

import sparkkinesis.client.StreamStatus
import sparkkinesis.model.{HashKeyRange, ShardId, StreamArn}

/**
 * All streams of all regions and accounts, as a value. Each change returns the next state.
 *
 * @param sweptAt minute of the last sweep of expired data
 * @param nextReshard no planned split or merge is due before this time
 */
final case class State private[simulator] (
    settings: Settings,
    private[simulator] val streams: Map[StreamArn, StreamState],
    private[simulator] val sweptAt: Instant = Instant.MIN,
    private[simulator] val nextReshard: Instant = Instant.MAX
) {

  /** The stream in any status. */
  private[simulator] def existing(arn: StreamArn, now: Instant): Either[Failure, StreamState] =
    streams
      .get(arn)
      .filterNot(_.isGone(now))
      .toRight(Failure.notFound(s"Stream ${arn.name} under account ${arn.account} not found."))

  /** The stream if it can be read and written. */
  private[simulator] def serving(arn: StreamArn, now: Instant): Either[Failure, StreamState] =
    existing(arn, now).flatMap { stream =>
      stream.status(now) match {
        case StreamStatus.Active | StreamStatus.Updating => Right(stream)
        case StreamStatus.Creating | StreamStatus.Deleting =>
          Left(Failure.notFound(s"Stream ${arn.name} under account ${arn.account} is not active."))
      }
    }

  /** The stream if its shards can be listed. */
  private[simulator] def listable(arn: StreamArn, now: Instant): Either[Failure, StreamState] =
    existing(arn, now).flatMap { stream =>
      stream.status(now) match {
        case StreamStatus.Active | StreamStatus.Updating => Right(stream)
        case status => Left(State.inUse(arn, s"is $status: it must be active"))
      }
    }

  /** The stream if it may be changed. */
  private[simulator] def changeable(arn: StreamArn, now: Instant): Either[Failure, StreamState] =
    existing(arn, now).flatMap { stream =>
      val status = stream.status(now)
      if (status == StreamStatus.Active) Right(stream)
      else Left(State.inUse(arn, s"is $status: it must be active"))
    }

  /** The streams of an account in a region. */
  private[simulator] def of(region: String, account: String, now: Instant): Iterator[StreamState] =
    streams.valuesIterator
      .filter(s => s.arn.region == region && s.arn.account == account && !s.isGone(now))

  /** Checks that the stream's account has room for so many more open shards. */
  private[simulator] def room(stream: StreamArn, shards: Int, now: Instant): Check.Checked = {
    val open = of(stream.region, stream.account, now).map(_.open.size).sum
    Check.that(open.toLong + shards <= settings.shardLimit)(
      Failure.Refused(
        ErrorCode.LimitExceeded,
        s"$shards more shards for stream ${stream.name} would exceed the limit of " +
          s"${settings.shardLimit} in account ${stream.account}; $open are open."
      )
    )
  }

  /** Changes the settings of a stream, which is then `UPDATING` for a while. */
  private[simulator] def reconfigured(stream: StreamState, now: Instant)(
      next: StreamConfig => StreamConfig
  ): State = updated(
    stream.copy(
      config = next(stream.config),
      change = Change(StreamStatus.Updating, settings.changed(now))
    )
  )

  /** The state after the splits and merges that were planned until now. */
  private[simulator] def resharded(now: Instant): State =
    if (now.isBefore(nextReshard)) this
    else {
      val next = streams.transform { (_, stream) =>
        if (stream.planned.isEmpty) stream else stream.resharded(now)
      }
      val times = next.valuesIterator.flatMap(_.planned.headOption).map(_.at)
      copy(streams = next, nextReshard = times.minOption.getOrElse(Instant.MAX))
    }

  /**
   * Gives the open shards of a stream equal parts of the hash keys: at once, or step by step. The
   * stream is `UPDATING` until then.
   */
  private[simulator] def scaled(stream: StreamState, target: Int, now: Instant): State = {
    val steps = stream.steps(HashKeyRange.even(target))
    val interval = settings.behaviour.reshardInterval
    val trimmed = stream.trimmed(now)
    if (interval.toMillis == 0)
      reconfigured(steps.foldLeft(trimmed)(_.resharded(_, now)), now)(identity)
    else {
      val planned = steps.zipWithIndex.map { case (step, i) =>
        PlannedReshard(now.plusMillis(interval.toMillis * (i + 1)), step)
      }
      val ends = settings.changed(now) +: planned.lastOption.map(_.at).toSeq
      val changing =
        trimmed.copy(planned = planned, change = Change(StreamStatus.Updating, ends.max))
      val first = planned.headOption.fold(nextReshard)(_.at)
      updated(changing).copy(nextReshard = Seq(nextReshard, first).min)
    }
  }

  /**
   * Removes deleted streams and expired records, which otherwise stay in shards that receive no
   * records. Runs once per minute, and always as of the start of the minute, so that a state
   * depends only on its changes and their times.
   */
  private[simulator] def swept(now: Instant): State = {
    val minute = now.truncatedTo(ChronoUnit.MINUTES)
    if (!minute.isAfter(sweptAt)) this
    else
      copy(
        streams = streams.collect {
          case (arn, s) if !s.isGone(minute) => arn -> s.trimmed(minute)
        },
        sweptAt = minute
      )
  }

  private[simulator] def updated(stream: StreamState): State =
    copy(streams = streams.updated(stream.arn, stream))
}

object State {

  /** A state without streams. */
  def empty(settings: Settings): State = State(settings, Map.empty)

  private[simulator] def inUse(arn: StreamArn, why: String): Failure =
    Failure.Refused(
      ErrorCode.ResourceInUse,
      s"Stream ${arn.name} under account ${arn.account} $why."
    )

  private[simulator] def noShard(arn: StreamArn, shard: ShardId): Failure =
    Failure.notFound(s"Shard $shard in stream ${arn.name} under account ${arn.account} not found.")
}
