package sparkkinesis.simulator.service

import sparkkinesis.simulator.fanout.{NextEvent, Subscribed, SubscriptionEvent, SubscriptionStep}
import sparkkinesis.simulator.fault.Refusal
import sparkkinesis.simulator.state.Failure

/** A call of `SubscribeToShard`, whose events the caller pulls. For one thread at a time. */
final class Subscription private[simulator] (
    kinesis: OperationRunner,
    private var subscribed: Subscribed
) {
  private var complete = false

  /** Whether it ended normally: after five minutes, or at the end of the shard. */
  def isComplete: Boolean = complete

  /**
   * Returns the event that is due now, if any. Throws the exception that the event stream would
   * contain, or `Unreachable` if a fault breaks the connection. After that the subscription has
   * ended.
   */
  def next(): Option[SubscriptionEvent] =
    if (complete) None
    else
      kinesis.nextEvent(subscribed) match {
        case Right(SubscriptionStep.Send(event, next)) =>
          next.fold { complete = true }(subscribed = _)
          Some(event)
        case Right(SubscriptionStep.Wait(_)) => None
        case Right(SubscriptionStep.Complete) =>
          complete = true
          None
        case Right(SubscriptionStep.SendPart(_)) => broken(Failure.NoAnswer)
        case Left(failure) => broken(failure)
      }

  private def broken(failure: Failure): Nothing = {
    complete = true
    throw Refusal.exception(NextEvent(subscribed), failure)
  }
}
