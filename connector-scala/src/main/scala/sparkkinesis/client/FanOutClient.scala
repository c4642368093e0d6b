package sparkkinesis.client

import java.time.Instant

import sparkkinesis.model._

/**
 * The calls of enhanced fan-out. An implementation does not retry or renew. Each method may throw
 * any [[KinesisException]]. Thread-safe.
 */
private[sparkkinesis] trait FanOutClient {

  /** `DescribeStreamConsumer`. */
  def describe(consumer: ConsumerRef): ConsumerSummary

  /** `RegisterStreamConsumer`. The consumer becomes active some seconds later. */
  def register(stream: StreamArn, name: String): ConsumerSummary

  /**
   * `SubscribeToShard`. Returns at once: the subscriber receives the answer, and an event after
   * each `request` of the subscription. Throws nothing.
   */
  def subscribe(
      consumer: ConsumerArn,
      shard: ShardId,
      position: Position,
      subscriber: EventSubscriber
  ): EventSubscription
}

private[sparkkinesis] object FanOutClient {

  /**
   * Bytes of one subscription that may wait in this JVM before they are asked for. At a round trip
   * of 60 ms they still allow the 2 MiB per second of a shard.
   */
  val WindowBytes: Int = 128 * 1024

  /**
   * Memory of one subscription beside the events that its reader has asked for: its window, and the
   * objects of its connection.
   */
  val SubscriptionBytes: Int = WindowBytes + 32 * 1024

  /** Stands in for the calls of enhanced fan-out in a client that has none. */
  object None extends FanOutClient {
    override def describe(consumer: ConsumerRef): ConsumerSummary = unavailable
    override def register(stream: StreamArn, name: String): ConsumerSummary = unavailable
    override def subscribe(
        consumer: ConsumerArn,
        shard: ShardId,
        position: Position,
        subscriber: EventSubscriber
    ): EventSubscription = unavailable

    private def unavailable: Nothing =
      throw new KinesisException.FanOutUnavailable("This client has no enhanced fan-out.")
  }
}

/** A call of `SubscribeToShard`. Its methods return at once, and any thread may call them. */
private[sparkkinesis] trait EventSubscription extends AutoCloseable {

  /** Asks for one more event. Without requests, events wait in the network. */
  def request(): Unit

  /** Ends the call. A second time has no effect. */
  override def close(): Unit
}

/**
 * Receives a subscription's events, in order. A client calls it on its own threads, so each method
 * must return at once.
 */
private[sparkkinesis] trait EventSubscriber {

  /**
   * The service has accepted the subscription.
   *
   * @param serverTime time of the answer by the service's clock, if it contains it
   */
  def opened(serverTime: Option[Instant]): Unit

  def event(event: ShardEvent): Unit

  /**
   * The subscription has ended, by itself after five minutes or by a failure. Nothing follows.
   */
  def ended(failure: Option[KinesisException]): Unit
}

/**
 * `SubscribeToShardEvent`. It may be empty: the service sends one every few seconds.
 *
 * @param continuation sequence number after which a new subscription continues; `None` at the end
 *   of the shard
 * @param millisBehindLatest time between this event and the tip of the shard
 * @param children only at the end of the shard
 * @param isFallback whether a library has decoded the event, because our decoder could not
 */
private[sparkkinesis] final case class ShardEvent(
    records: IndexedSeq[Record],
    continuation: Option[SequenceNumber],
    millisBehindLatest: Option[Long],
    children: Seq[ChildShard],
    isFallback: Boolean = false
)

private[sparkkinesis] sealed trait ConsumerStatus

private[sparkkinesis] object ConsumerStatus {
  case object Creating extends ConsumerStatus
  case object Active extends ConsumerStatus
  case object Deleting extends ConsumerStatus
}

/** The description of a consumer. */
private[sparkkinesis] final case class ConsumerSummary(
    arn: ConsumerArn,
    status: ConsumerStatus,
    created: Instant
)

/** How a caller names a consumer. */
private[sparkkinesis] sealed trait ConsumerRef {
  def stream: StreamArn
}

private[sparkkinesis] object ConsumerRef {
  final case class ByArn(arn: ConsumerArn) extends ConsumerRef {
    override def stream: StreamArn = arn.stream
    override def toString: String = arn.toString
  }

  final case class ByName(stream: StreamArn, name: String) extends ConsumerRef {
    override def toString: String = s"$name of stream ${stream.name}"
  }
}
