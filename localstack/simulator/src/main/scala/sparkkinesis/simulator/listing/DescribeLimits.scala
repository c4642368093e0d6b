package sparkkinesis.simulator.listing

import java.time.Instant

import sparkkinesis.simulator.operation.ReadOnly
import sparkkinesis.simulator.state.{Failure, State, StreamMode}

/** @param region region of the caller, as for `account` */
final case class DescribeLimits(region: String, account: String) extends ReadOnly[AccountLimits] {
  override def answer(state: State, now: Instant): Either[Failure, AccountLimits] = {
    val streams = state.of(region, account, now).toVector
    Right(
      AccountLimits(
        state.settings.shardLimit,
        streams.map(_.open.size).sum,
        streams.count(_.config.mode == StreamMode.OnDemand),
        DescribeLimits.OnDemandStreams
      )
    )
  }
}

object DescribeLimits {

  /** The limit that the service reports for a new account. It is not enforced. */
  val OnDemandStreams = 50
}

/** The limits of an account in a region, and what it uses. */
final case class AccountLimits(
    shardLimit: Int,
    openShards: Int,
    onDemandStreams: Int,
    onDemandStreamLimit: Int
)
