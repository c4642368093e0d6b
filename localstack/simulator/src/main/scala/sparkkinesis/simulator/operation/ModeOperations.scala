package sparkkinesis.simulator.operation

import java.time.Instant

import sparkkinesis.model.{RecordDistribution, StreamArn}
import sparkkinesis.simulator.state._

/** Changes the mode of a stream. Its shards stay unchanged. */
final case class UpdateStreamMode(stream: StreamArn, mode: StreamMode) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    for {
      found <- state.changeable(stream, now)
      _ <- Modes.check(stream, mode, found.config.distribution)
    } yield (state.reconfigured(found, now)(_.copy(mode = mode)), ())
}

/** Changes the distribution strategy at once, for records that are put later. */
final case class UpdateStreamRecordDistributionStrategy(
    stream: StreamArn,
    distribution: RecordDistribution
) extends Changing[Unit] {
  override def change(state: State, now: Instant): Either[Failure, (State, Unit)] =
    for {
      found <- state.changeable(stream, now)
      _ <- Modes.check(stream, found.config.mode, distribution)
    } yield {
      val config = found.config.copy(distribution = distribution)
      (state.updated(found.copy(config = config)), ())
    }
}

private[simulator] object Modes {

  /** Shards of a new on-demand stream. */
  val OnDemandShards = 4

  def check(stream: StreamArn, mode: StreamMode, distribution: RecordDistribution): Check.Checked =
    Check.that(mode == StreamMode.OnDemand || distribution != RecordDistribution.Auto)(
      Failure.invalid(
        s"The record distribution strategy AUTO is for on-demand streams only; ${stream.name} is " +
          "provisioned."
      )
    )

  /** The refusal of calls that change shards. */
  def provisioned(stream: StreamState): Check.Checked =
    Check.that(stream.config.mode == StreamMode.Provisioned)(
      Failure.Refused(
        ErrorCode.Validation,
        s"Stream ${stream.arn.name} is on-demand: only the shards of provisioned streams can be " +
          "changed."
      )
    )
}
