package sparkkinesis.simulator.service

import scala.collection.mutable

import sparkkinesis.client._
import sparkkinesis.model.{ConsumerArn, Position, ShardId, StreamArn, StreamRef}
import sparkkinesis.simulator.fanout.SubscribeToShard
import sparkkinesis.simulator.operation.{
  ConsumersPage,
  DeregisterStreamConsumer,
  DescribeStreamConsumer,
  ListStreamConsumers,
  RegisterStreamConsumer
}

/**
 * Enhanced fan-out in memory. No call waits, not even until a consumer is active. If `changeTime`
 * is set, move the clock. Each method may throw any `KinesisException`.
 */
final class FanOut private[simulator] (kinesis: OperationRunner) extends FanOutClient {
  private val pushed = mutable.Set.empty[PushedSubscription]

  def register(stream: StreamRef, consumer: String): ConsumerSummary =
    kinesis.answer(RegisterStreamConsumer(LocalAccount.arn(stream), consumer))

  override def register(stream: StreamArn, name: String): ConsumerSummary =
    kinesis.answer(RegisterStreamConsumer(stream, name))

  override def describe(consumer: ConsumerRef): ConsumerSummary =
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

  /** The subscriber receives its events in calls of `push`. */
  override def subscribe(
      consumer: ConsumerArn,
      shard: ShardId,
      position: Position,
      subscriber: EventSubscriber
  ): EventSubscription = {
    val subscription = new PushedSubscription(
      () => subscribe(consumer, shard, position),
      () => kinesis.now,
      subscriber,
      ended => synchronized(pushed.remove(ended)): Unit
    )
    synchronized(pushed.add(subscription))
    subscription
  }

  /** Passes on what is due. There is no thread that does it. */
  def push(): Unit = synchronized(pushed.toVector).foreach(_.push())
}
