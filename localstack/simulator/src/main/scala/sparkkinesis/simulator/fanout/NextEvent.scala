package sparkkinesis.simulator.fanout

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.ConsumerRef
import sparkkinesis.model.{ChildShard, ConsumerArn, Record, SequenceNumber, ServiceLimits, ShardId}
import sparkkinesis.simulator.operation.{ReadOnly, Subject}
import sparkkinesis.simulator.record.{RecordLog, SequenceParts}
import sparkkinesis.simulator.state._

/**
 * Finds the next step of a subscription. Fails if another subscription replaced it, or if its
 * stream, shard or consumer was deleted. `Faults` see this operation only when an event is about to
 * be sent.
 */
final case class NextEvent private[simulator] (private[simulator] val subscribed: Subscribed)
    extends ReadOnly[SubscriptionStep] {
  override def name: String = "SubscribeToShard"

  override def subject: Subject = Subject(Some(consumer.stream), Some(shard))

  def consumer: ConsumerArn = subscribed.consumer

  def shard: ShardId = subscribed.shard

  override def answer(state: State, now: Instant): Either[Failure, SubscriptionStep] =
    for {
      found <- state.serving(consumer.stream, now)
      holder <- found.consumers.find(ConsumerRef.ByArn(consumer), now)
      _ <- Check.that(holder.leases.get(shard).exists(_.number == subscribed.lease))(
        Failure.Refused(
          ErrorCode.ResourceInUse,
          s"Another subscription of consumer $consumer to shard $shard took over."
        )
      )
      from <- found.find(shard, now).toRight(State.noShard(consumer.stream, shard))
    } yield
      if (now.isBefore(subscribed.until)) step(found, from, now, state.settings)
      else SubscriptionStep.Complete

  private def step(
      found: StreamState,
      from: ShardState,
      now: Instant,
      settings: Settings
  ): SubscriptionStep = {
    val start = math.max(subscribed.position, from.positionAt(found.horizonMillis(now)))
    val mayEnd = !settings.behaviour.neverEnds(from.numbering)
    val isNews = mayEnd && from.endsAt(start) || start < from.visibleEnd(now)
    val due = if (isNews) subscribed.ready else subscribed.heartbeat
    if (now.isBefore(due)) {
      val news = if (isNews) None else from.visibleAt(start)
      val reshard = found.planned.headOption.map(_.at)
      SubscriptionStep.Wait((Seq(due, subscribed.until) ++ news ++ reshard).min)
    } else send(found, from, start, now, settings)
  }

  private def send(
      found: StreamState,
      from: ShardState,
      start: Long,
      now: Instant,
      settings: Settings
  ): SubscriptionStep = {
    val records = from.page(start, ServiceLimits.GetRecordsCount, Subscribed.EventBytes, now)
    val end = start + records.size
    val behind = from.millisBehind(end, now)
    val isEnd = from.endsAt(end) && !settings.behaviour.neverEnds(from.numbering)
    if (isEnd && (records.isEmpty || !settings.behaviour.endsLate(from.numbering))) {
      val children = found.children(from).map(_.childShard)
      SubscriptionStep.Send(SubscriptionEvent(records, None, behind, children), None)
    } else {
      val event = SubscriptionEvent(records, Some(continuation(from, end)), behind, Nil)
      val pace = if (settings.quotas) NextEvent.pace(records) else Duration.Zero
      SubscriptionStep.Send(event, Some(subscribed.sent(end, now, pace)))
    }
  }

  /**
   * The sequence number of the last record before the position, or one that stands for the
   * position.
   */
  private def continuation(from: ShardState, position: Long): SequenceNumber =
    from
      .sequenceNumber(position - 1)
      .getOrElse(SequenceParts(from.epoch, position, from.epoch, from.number).number)
}

private[simulator] object NextEvent {

  /** Quota of a consumer per shard. */
  private val BytesPerSecond = 2L * 1024 * 1024

  private def pace(records: RecordLog): FiniteDuration =
    (records.bytes * 1000000000L / BytesPerSecond).nanos
}

/** What a subscription does next. */
sealed trait SubscriptionStep

object SubscriptionStep {

  /** @param next state of the subscription after the event; `None` if the shard has ended */
  final case class Send private[simulator] (
      event: SubscriptionEvent,
      private[simulator] val next: Option[Subscribed]
  ) extends SubscriptionStep

  /** A fault breaks the connection within the event. */
  final case class SendPart(event: SubscriptionEvent) extends SubscriptionStep

  /** Nothing to send before that time, unless the stream changes. */
  final case class Wait(until: Instant) extends SubscriptionStep

  /** The five minutes of the subscription are over. */
  case object Complete extends SubscriptionStep
}

/**
 * `SubscribeToShardEvent`, possibly without records.
 *
 * @param continuation sequence number where a new subscription continues; `None` at the shard's end
 * @param millisBehindLatest how far the last record is behind the tip
 * @param children only at the shard's end
 */
final case class SubscriptionEvent(
    records: IndexedSeq[Record],
    continuation: Option[SequenceNumber],
    millisBehindLatest: Long,
    children: Seq[ChildShard]
)
