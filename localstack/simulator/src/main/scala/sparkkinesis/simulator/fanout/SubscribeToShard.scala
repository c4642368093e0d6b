package sparkkinesis.simulator.fanout

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{ConsumerRef, ConsumerStatus}
import sparkkinesis.model.{ConsumerArn, Position, ShardId, StreamArn}
import sparkkinesis.simulator.operation.{Changing, GetShardIterator}
import sparkkinesis.simulator.state._

/**
 * Starts a subscription of a consumer to a shard, for five minutes.
 *
 * A second call is refused for five seconds after a successful one, even if the first connection
 * was closed. After that it replaces the first subscription.
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
      val isReplayed = state.settings.behaviour.isReplayed(from.numbering, at)
      val begin = if (isReplayed) from.base else at
      val (consumers, lease) = found.consumers.leased(holder, shard, now)
      (
        state.updated(found.copy(consumers = consumers)),
        Subscribed.begin(consumer, shard, lease, begin)
      )
    }

  private def isOver(lease: Lease, now: Instant): Boolean =
    now.toEpochMilli - lease.since.toEpochMilli >= Subscribed.Takeover.toMillis

  private def inUse(message: String): Failure =
    Failure.Refused(ErrorCode.ResourceInUse, message)
}

/**
 * The progress of a subscription.
 *
 * @param lease number of its lease: the subscription has ended when the shard has another one
 * @param position position of the next record
 * @param until time of its normal end
 * @param ready no records are sent before this time
 * @param heartbeat time of the next event without records
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

  /** @param pace time before the next records may be sent */
  def sent(to: Long, now: Instant, pace: FiniteDuration): Subscribed = copy(
    position = to,
    ready = now.plusNanos(pace.toNanos),
    heartbeat = now.plusMillis(Subscribed.Heartbeat.toMillis)
  )
}

private[simulator] object Subscribed {

  /**
   * How long a second call is refused after a successful one, before it replaces the first
   * subscription (API reference).
   */
  val Takeover: FiniteDuration = 5.seconds

  /** The time after which a subscription ends normally (API reference). */
  val Lifetime: FiniteDuration = 5.minutes

  /** Interval of empty events if there are no records. The service does not document its own. */
  val Heartbeat: FiniteDuration = 5.seconds

  /** Maximum bytes of data and partition keys in one event, unless a single record has more. */
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
