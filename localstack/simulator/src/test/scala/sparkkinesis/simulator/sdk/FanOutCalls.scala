package sparkkinesis.simulator.sdk

import sparkkinesis.client.{ConsumerRef, ConsumerSummary, KinesisException}
import sparkkinesis.model.{ConsumerArn, Position, ShardId, StreamArn, StreamRef}
import sparkkinesis.simulator.fanout.SubscriptionEvent
import sparkkinesis.simulator.operation.{ConsumersPage, DeleteStream}
import sparkkinesis.simulator.service.SimulatedKinesis

/** Enhanced fan-out of a Kinesis under test. Methods may throw any `KinesisException`. */
trait FanOutCalls {

  /** Registers a consumer, and returns when it is active. */
  def register(stream: StreamArn, name: String): ConsumerSummary

  def describe(consumer: ConsumerRef): ConsumerSummary

  def list(stream: StreamArn, token: Option[String], limit: Int): ConsumersPage

  /** Deregisters a consumer, and returns when it is gone. */
  def deregister(consumer: ConsumerRef): Unit

  /** Deletes a stream with its consumers, and returns when it is gone. */
  def deleteStream(stream: StreamArn): Unit

  def subscribe(consumer: ConsumerArn, shard: ShardId, position: Position): FanOutSubscription
}

trait FanOutSubscription extends AutoCloseable {

  /** Waits a short time for the next event or the end. Returns the same end again. */
  def next(): Signal
}

sealed trait Signal

object Signal {
  final case class Event(event: SubscriptionEvent) extends Signal
  case object Completed extends Signal
  final case class Failed(cause: KinesisException) extends Signal
  case object Quiet extends Signal
}

/** Calls of the simulator in memory. */
final class MemoryFanOut(kinesis: SimulatedKinesis) extends FanOutCalls {
  private val fanOut = kinesis.fanOut

  override def register(stream: StreamArn, name: String): ConsumerSummary =
    fanOut.register(StreamRef.ByArn(stream), name)

  override def describe(consumer: ConsumerRef): ConsumerSummary = fanOut.describe(consumer)

  override def list(stream: StreamArn, token: Option[String], limit: Int): ConsumersPage =
    fanOut.list(StreamRef.ByArn(stream), token, limit)

  override def deregister(consumer: ConsumerRef): Unit = fanOut.deregister(consumer)

  override def deleteStream(stream: StreamArn): Unit =
    kinesis.answer(DeleteStream(stream, withConsumers = true))

  override def subscribe(
      consumer: ConsumerArn,
      shard: ShardId,
      position: Position
  ): FanOutSubscription = {
    val subscription = fanOut.subscribe(consumer, shard, position)
    new FanOutSubscription {
      override def next(): Signal =
        try
          subscription.next() match {
            case Some(event) => Signal.Event(event)
            case None => if (subscription.isComplete) Signal.Completed else Signal.Quiet
          }
        catch { case e: KinesisException => Signal.Failed(e) }

      override def close(): Unit = ()
    }
  }
}
