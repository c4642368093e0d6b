package sparkkinesis.simulator.fanout

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.{Position, ShardId, StreamArn}
import sparkkinesis.simulator.operation.{Changing, GetShardIterator}
import sparkkinesis.simulator.state._

/**
 * A consumer asks for a shard's records as they come, for five minutes.
 *
 * Five seconds after a successful call another takes the shard over; before that it is refused,
 * even where the first connection has been closed since.
 */
final case class SubscribeToShard(consumer: ConsumerArn, shard: ShardId, position: Position)
    extends Changing[Subscribed] {
  private def stream: StreamArn = consumer.stream

  override def change(state: State, now: Instant): Either[Failure, (State, Subscribed)] =
    for {
      found <- state.serving(stream, now)
      holder <- found.consumers.find(ConsumerRef.ByArn(consumer), now)
      _ <- Check.that(holder.status(now) == ConsumerStatus.Active)(
        inUse(s"Consumer $consumer is ${holder.status(now)}: it must be active.")
      )
      from <- found.find(shard, now).toRight(State.noShard(stream, shard))
      _ <- Check.that(holder.leases.get(shard).forall(isOver(_, now)))(
        inUse(
          s"Consumer $consumer subscribed to shard $shard less than ${Subscribed.Takeover} ago."
        )
      )
      at <- GetShardIterator(stream, shard, position).resolve(from, now)
    } yield {
      val (consumers, lease) = found.consumers.leased(holder, shard, now)
      (
        state.updated(found.copy(consumers = consumers)),
        Subscribed.begin(consumer, shard, lease, at)
      )
    }

  private def isOver(lease: Lease, now: Instant): Boolean =
    now.toEpochMilli - lease.since.toEpochMilli >= Subscribed.Takeover.toMillis

  private def inUse(message: String): Failure =
    Failure.Refused(ErrorCode.ResourceInUse, message)
}

/**
 * How far a subscription has come.
 *
 * @param lease its number: the subscription has ended once the shard is leased to another
 * @param position of the next record
 * @param until when it ends normally
 * @param ready records are not sent before
 * @param heartbeat an event without records is sent then
 */
private[simulator] final case class Subscribed(
    consumer: ConsumerArn,
    shard: ShardId,
    lease: Long,
    position: Long,
    until: Instant,
    ready: Instant,
    heartbeat: Instant
) {

  /** @param pace how long no records may follow */
  def sent(to: Long, now: Instant, pace: FiniteDuration): Subscribed = copy(
    position = to,
    ready = now.plusNanos(pace.toNanos),
    heartbeat = now.plusMillis(Subscribed.Heartbeat.toMillis)
  )
}

private[simulator] object Subscribed {

  /** After a successful call a second one is refused for so long, then wins (API reference). */
  val Takeover: FiniteDuration = 5.seconds

  /** Then the subscription ends normally (API reference). */
  val Lifetime: FiniteDuration = 5.minutes

  /** Without records an empty event comes so often; the service does not say how often. */
  val Heartbeat: FiniteDuration = 5.seconds

  /** Bytes of data and partition keys in one event, unless a single record has more. */
  val EventBytes: Int = 1024 * 1024

  def begin(consumer: ConsumerArn, shard: ShardId, lease: Lease, position: Long): Subscribed =
    Subscribed(
      consumer,
      shard,
      lease.number,
      position,
      until = lease.since.plusMillis(Lifetime.toMillis),
      ready = lease.since,
      heartbeat = lease.since.plusMillis(Heartbeat.toMillis)
    )
}
