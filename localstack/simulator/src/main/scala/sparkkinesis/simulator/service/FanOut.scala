package sparkkinesis.simulator.service

import sparkkinesis.model.{Position, ShardId, StreamRef}
import sparkkinesis.simulator.fanout.{
  NextEvent,
  SubscribeToShard,
  Subscribed,
  SubscriptionEvent,
  Turn
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
 * Enhanced fan-out in memory. Nothing waits, not even for a consumer to be active: with a
 * `changeTime`, move the clock. Each method may throw any `KinesisException`.
 */
final class FanOut private[simulator] (kinesis: OperationRunner) {
  def register(stream: StreamRef, consumer: String): ConsumerSummary =
    kinesis.answer(RegisterStreamConsumer(LocalAccount.arn(stream), consumer))

  def describe(consumer: ConsumerRef): ConsumerSummary =
    kinesis.answer(DescribeStreamConsumer(consumer))

  /**
   * @param token of an earlier page
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

/** One call of `SubscribeToShard`, pulled by whoever has it; of use to one thread at a time. */
final class Subscription private[simulator] (
    kinesis: OperationRunner,
    private var subscribed: Subscribed
) {
  private var complete = false

  /** It ended normally: after five minutes, or at the shard's end. */
  def isComplete: Boolean = complete

  /**
   * What is there to be sent at this moment, if anything. Throws what would come as an exception in
   * the stream of events, `Unreachable` where the connection is made to break; it has ended then.
   */
  def next(): Option[SubscriptionEvent] =
    if (complete) None
    else
      kinesis.nextEvent(subscribed) match {
        case Right(Turn.Send(event, next)) =>
          next.fold { complete = true }(subscribed = _)
          Some(event)
        case Right(Turn.Wait(_)) => None
        case Right(Turn.Complete) =>
          complete = true
          None
        case Right(Turn.SendPart(_)) => broken(Failure.NoAnswer)
        case Left(failure) => broken(failure)
      }

  private def broken(failure: Failure): Nothing = {
    complete = true
    throw Refusal.exception(NextEvent(subscribed), failure)
  }
}
