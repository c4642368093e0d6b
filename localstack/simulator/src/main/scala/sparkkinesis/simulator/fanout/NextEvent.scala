package sparkkinesis.simulator.fanout

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.{ChildShard, Record, SequenceNumber, ServiceLimits, ShardId}
import sparkkinesis.simulator.operation.{ReadOnly, Subject}
import sparkkinesis.simulator.record.{RecordLog, SequenceParts}
import sparkkinesis.simulator.state._

/**
 * What a subscription has to say now. Fails where it has been taken over, or its stream, shard or
 * consumer is gone. `Faults` are asked with it, and only when an event is about to be sent.
 */
final case class NextEvent private[simulator] (private[simulator] val subscribed: Subscribed)
    extends ReadOnly[Turn] {
  override def name: String = "SubscribeToShard"

  override def subject: Subject = Subject(Some(consumer.stream), Some(shard))

  def consumer: ConsumerArn = subscribed.consumer

  def shard: ShardId = subscribed.shard

  override def answer(state: State, now: Instant): Either[Failure, Turn] =
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
      if (now.isBefore(subscribed.until)) turn(found, from, now, state.settings.quotas)
      else Turn.Complete

  private def turn(found: StreamState, from: ShardState, now: Instant, paced: Boolean): Turn = {
    val start = math.max(subscribed.position, from.positionAt(found.horizonMillis(now)))
    val isDone = !from.isOpen && start >= from.end
    val isNews = isDone || start < from.end
    val due = if (isNews) subscribed.ready else subscribed.heartbeat
    if (now.isBefore(due)) Turn.Wait(if (due.isBefore(subscribed.until)) due else subscribed.until)
    else send(found, from, start, now, paced)
  }

  private def send(
      found: StreamState,
      from: ShardState,
      start: Long,
      now: Instant,
      paced: Boolean
  ): Turn = {
    val records = from.page(start, ServiceLimits.GetRecordsCount, Subscribed.EventBytes)
    val end = start + records.size
    // A subscriber takes 0 for the tip, so a record of this very millisecond counts as one old.
    val behind = from.arrivalMillis(end).fold(0L)(at => math.max(1L, now.toEpochMilli - at))
    if (!from.isOpen && end >= from.end) {
      val children = found.children(from).map(_.childShard)
      Turn.Send(SubscriptionEvent(records, None, behind, children), None)
    } else {
      val event = SubscriptionEvent(records, Some(continuation(from, end)), behind, Nil)
      val pace = if (paced) NextEvent.pace(records) else Duration.Zero
      Turn.Send(event, Some(subscribed.sent(end, now, pace)))
    }
  }

  /** The number of the last record before the position, or one that stands for the place. */
  private def continuation(from: ShardState, position: Long): SequenceNumber =
    from
      .sequenceNumber(position - 1)
      .getOrElse(SequenceParts(from.epoch, position, from.epoch, from.number).number)
}

private[simulator] object NextEvent {

  /** Of a consumer and shard (quotas). */
  private val BytesPerSecond = 2L * 1024 * 1024

  private def pace(records: RecordLog): FiniteDuration =
    (records.bytes * 1000000000L / BytesPerSecond).nanos
}

/** What a subscription does next. */
sealed trait Turn

object Turn {

  /** @param next `None` at the shard's end: the stream of events is complete with this one */
  final case class Send private[simulator] (
      event: SubscriptionEvent,
      private[simulator] val next: Option[Subscribed]
  ) extends Turn

  /** The connection breaks in the midst of the event. */
  final case class SendPart(event: SubscriptionEvent) extends Turn

  /** Nothing before then, unless something changes in the stream. */
  final case class Wait(until: Instant) extends Turn

  /** The five minutes are over. */
  case object Complete extends Turn
}

/**
 * `SubscribeToShardEvent`, perhaps without records.
 *
 * @param continuation where another subscription goes on, behind it; `None` at the shard's end
 * @param millisBehindLatest how far behind the tip
 * @param children only at the shard's end
 */
final case class SubscriptionEvent(
    records: IndexedSeq[Record],
    continuation: Option[SequenceNumber],
    millisBehindLatest: Long,
    children: Seq[ChildShard]
)
