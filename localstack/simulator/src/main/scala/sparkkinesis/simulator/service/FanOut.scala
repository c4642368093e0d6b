package sparkkinesis.simulator.service

import sparkkinesis.model.{Position, ShardId, StreamRef}
import sparkkinesis.simulator.fanout.{
  NextEvent,
  SubscribeToShard,
  Subscribed,
  SubscriptionEvent,
  SubscriptionStep
}
import sparkkinesis.simulator.fault.Refusal
import sparkkinesis.simulator.operation.{
  ConsumersPage,
  DeregisterStreamConsumer,
  DescribeStreamConsumer,
  ListStreamConsumers,
  RegisterStreamConsumer
}
import sparkkinesis.simulator.state.{ConsumerArn, ConsumerRef, ConsumerSummary, Failure}

/**
 * Enhanced fan-out in memory. No call waits, not even until a consumer is active. If `changeTime`
 * is set, move the clock. Each method may throw any `KinesisException`.
 */
final class FanOut private[simulator] (kinesis: OperationRunner) {
  def register(stream: StreamRef, consumer: String): ConsumerSummary =
    kinesis.answer(RegisterStreamConsumer(LocalAccount.arn(stream), consumer))

  def describe(consumer: ConsumerRef): ConsumerSummary =
    kinesis.answer(DescribeStreamConsumer(consumer))

  /**
   * @param token the token of the previous page
   * @param limit 1 to 10,000
   */
  def list(
      stream: StreamRef,
      token: Option[String] = None,
      limit: Int = ListStreamConsumers.DefaultLimit
  ): ConsumersPage =
    kinesis.answer(ListStreamConsumers(LocalAccount.arn(stream), None, token, limit))

  def deregister(consumer: ConsumerRef): Unit = kinesis.answer(DeregisterStreamConsumer(consumer))

  def subscribe(consumer: ConsumerArn, shard: ShardId, position: Position): Subscription =
    new Subscription(kinesis, kinesis.answer(SubscribeToShard(consumer, shard, position)))
}

/** One call of `SubscribeToShard`, whose events the caller pulls. For one thread at a time. */
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
