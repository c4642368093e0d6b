package sparkkinesis.simulator.operation

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.StreamArn
import sparkkinesis.simulator.state.{Check, Failure, State}

/**
 * Increases the retention period. Records that were trimmed stay trimmed.
 *
 * @param hours more than the current period, at most 8,760
 */
final case class IncreaseStreamRetentionPeriod(stream: StreamArn, hours: Int)
    extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    Retention.change(state, stream, hours, now)(_ > _, "more")
}

/**
 * Decreases the retention period. Older records are trimmed.
 *
 * @param hours less than the current period, at least 24
 */
final case class DecreaseStreamRetentionPeriod(stream: StreamArn, hours: Int)
    extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    Retention.change(state, stream, hours, now)(_ < _, "less")
}

private[simulator] object Retention {
  private val Shortest = 24
  private val Longest = 365 * 24

  def change(state: State, stream: StreamArn, hours: Int, now: Instant)(
      fits: (Long, Long) => Boolean,
      direction: String
  ): Either[Failure, (State, Unit)] =
    for {
      found <- state.changeable(stream, now)
      _ <- Check.that(hours >= Shortest && hours <= Longest)(
        Failure.invalid(
          s"RetentionPeriodHours $hours of stream ${stream.name} is not $Shortest to $Longest."
        )
      )
      current = found.config.retention.toHours
      _ <- Check.that(fits(hours.toLong, current))(
        Failure.invalid(
          s"RetentionPeriodHours $hours is not $direction than the $current of stream " +
            s"${stream.name}."
        )
      )
    } yield {
      val trimmed = found.copy(trimmedTo = found.horizonMillis(now))
      (state.reconfigured(trimmed, now)(_.copy(retention = hours.hours)), ())
    }
}
