package sparkkinesis.shard.feed

import java.time.Instant

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.compat._
import sparkkinesis.model.{ConsumerArn, PackedRecords, Position, SequenceNumber, ShardId}
import sparkkinesis.shard.{ReadSettings, StreamClient}

/**
 * The pages of a shard by enhanced fan-out: one subscription, which is renewed before the service
 * ends it. Asks for one event, and for the next one when it has arrived, so that the others wait in
 * the network while there is no room.
 *
 * @param counts of all feeds of the executor
 * @param chance evenly distributed in `[0, 1)`, for jitter
 * @param wake called on any thread when `next` may have a page
 */
private[feed] final class PushedPages(
    stream: StreamClient,
    consumer: ConsumerArn,
    shard: ShardId,
    settings: ReadSettings,
    counts: FeedCounts,
    chance: () => Double,
    wake: () => Unit
) extends PageFeed {
  import EventInbox.Signal
  import PushedPages._
  import ReadStep._
  import stream.client.fanOut

  private val name = s"shard $shard of stream ${stream.ref} with consumer $consumer"

  @volatile private var isClosed = false
  @volatile private var current = Option.empty[Subscribed]
  private var notBefore = Long.MinValue // no subscription begins earlier, in steady milliseconds
  private var continuation = Option.empty[SequenceNumber]
  private var takeovers = Vector.empty[Long]
  private var isBehind = true // as the last event says
  private var tip = new SilentTip
  private var arrived = Option.empty[Arrived] // the page that is not taken
  private var silences = 0 // of accepted subscriptions, since the last event

  override def isPushed: Boolean = true

  override def readiness(at: Moment): Readiness = {
    val now = millis(at)
    current match {
      case None => if (now < notBefore) Paced((notBefore - now).millis) else NeedsRoom
      case Some(it) if it.inbox.head.nonEmpty || it.isOver(now) => HasNews
      case Some(it) => if (it.askedAt.isEmpty) NeedsRoom else Awaits(it.limit(now))
    }
  }

  override def next(position: Position, at: Moment): Either[NotYet, (Page, Moment)] =
    current match {
      case None if millis(at) < notBefore => Left(Paced((notBefore - millis(at)).millis))
      case None => Left(begin(position, at))
      case Some(it) => take(it, position, at)
    }

  @tailrec private def take(
      it: Subscribed,
      position: Position,
      at: Moment
  ): Either[NotYet, (Page, Moment)] = it.inbox.head match {
    case Some(Signal.Opened(serverTime)) =>
      it.opened(serverTime, millis(at))
      it.inbox.drop()
      take(it, position, at)
    case Some(Signal.Event(event)) => Right(received(it, event, at))
    case Some(Signal.Ended(failure)) => Left(ended(it, failure, millis(at)))
    case None if it.isSilent(millis(at)) =>
      end(millis(at))
      throw silence(it)
    case None if it.isOld(millis(at)) =>
      counts.renewal()
      end(millis(at))
      Left(begin(position, at))
    case None => Left(ask(it, millis(at)))
  }

  /**
   * One silence may be a broken connection. Several in a row are a fault, because the service sends
   * events even if there are no records.
   */
  private def silence(it: Subscribed): KinesisException = {
    val text = s"SubscribeToShard of $name sent nothing for ${Subscribed.LongestSilence}"
    if (it.isOpened) silences += 1
    if (silences < MostSilences) new KinesisException.Unreachable(s"$text.")
    else
      new KinesisException.FanOutUnavailable(
        s"$text after it was accepted, $MostSilences times in a row."
      )
  }

  private def begin(position: Position, at: Moment): NotYet = {
    val inbox = new EventInbox(wake)
    val from = continuation.fold(position)(Position.AfterSequenceNumber(_))
    counts.subscribed()
    val renewal = settings.renewal.max(ShortestRenewal).min(Renewal)
    val lifetime = (renewal * (1 - RenewalJitter * chance())).toMillis
    val it = new Subscribed(
      inbox,
      fanOut.subscribe(consumer, shard, from, inbox),
      at,
      lifetime,
      continuation.nonEmpty
    )
    current = Some(it)
    notBefore = millis(at) + CallPeriod.toMillis
    if (isClosed) it.close() // meanwhile
    ask(it, millis(at))
  }

  private def ask(it: Subscribed, now: Long): NotYet = {
    if (it.askedAt.isEmpty) {
      it.askedAt = Some(now)
      it.subscription.request()
    }
    Awaits(it.limit(now))
  }

  /**
   * Whether to ask for an event ahead. In a backlog, the network brings one while the event before
   * it becomes a page. An old subscription does not ask: its successor begins when all events were
   * taken.
   */
  override def mayAskAhead(at: Moment): Boolean = current.exists { it =>
    !it.isAskedAhead && !it.isOld(millis(at)) && it.inbox.head.exists {
      case Signal.Event(event) =>
        event.continuation.nonEmpty && !event.millisBehindLatest.contains(0L)
      case _ => false
    }
  }

  override def askAhead(): Unit = current.foreach { it =>
    it.isAskedAhead = true
    it.subscription.request()
  }

  private def received(it: Subscribed, event: ShardEvent, at: Moment): (Page, Moment) = {
    it.heard(millis(at))
    val records = PackedRecords(event.records)
    val next = event.continuation.map(number => ShardIterator(number.text))
    val found = Page(records, next, event.millisBehindLatest, event.children, it.serverTime)
    val page = tip.judge(found, millis(at))
    arrived = Some(Arrived(it, records, event, page.isAtTip, millis(at)))
    page -> it.began
  }

  override def took(): Unit = {
    arrived.foreach { page =>
      isBehind = !page.isAtTip
      page.of.taken(page.at)
      counts.pushed(page.records.dataBytes)
      if (page.event.isFallback) counts.fallback()
      silences = 0
      continuation = page.event.continuation
      if (continuation.isEmpty) end(page.at)
    }
    arrived = None
  }

  override def release(): Unit = arrived = None

  /** @throws KinesisException if the subscription has failed */
  private def ended(it: Subscribed, failure: Option[KinesisException], now: Long): NotYet = {
    end(now)
    failure match {
      case Some(refusal: KinesisException.InUse) =>
        counts.refused()
        notBefore = now + (Takeover.toMillis * (1 + chance() / 2)).toLong
        if (it.isOpened) takenOver(now)
        throw refusal
      case Some(gone: KinesisException.NotFound) =>
        check()
        throw gone
      // The service may have forgotten that number. The position is that of a record.
      case Some(_: KinesisException.InvalidArgument) if it.isContinuation =>
        continuation = None
        Paced((notBefore - now).max(0).millis)
      case Some(other) => throw other
      case None if it.hasEvents =>
        counts.renewal()
        Paced((notBefore - now).max(0).millis)
      case None =>
        throw new KinesisException.ServiceFailure(
          s"SubscribeToShard of $name ended without an event."
        )
    }
  }

  /** Fails if the consumer is gone. Any other answer says nothing about the consumer. */
  private def check(): Unit =
    try fanOut.describe(ConsumerRef.ByArn(consumer)): Unit
    catch {
      case gone: KinesisException.NotFound =>
        throw new KinesisException.ConsumerNotFound(
          s"Consumer $consumer does not exist any more: ${gone.getMessage}",
          gone
        )
      case _: KinesisException => ()
    }

  /** Once may be chance: an executor that is believed dead, or a query that has just ended. */
  private def takenOver(now: Long): Unit = {
    takeovers = takeovers.filter(_ > now - TakeoverPeriod.toMillis) :+ now
    if (takeovers.size >= MostTakeovers)
      throw new KinesisException.ConsumerInUse(
        s"Another reader has taken over the subscription to $name $MostTakeovers times in " +
          s"$TakeoverPeriod."
      )
  }

  private def end(now: Long): Unit = {
    current.foreach(_.close())
    current = None
    notBefore = math.max(notBefore, now)
  }

  /**
   * Whether the feed keeps its room. At the tip, the next event may be minutes away, and meanwhile
   * the room belongs to other shards.
   */
  override def keepsRoom: Boolean = !isClosed && isBehind && current.exists(_.askedAt.nonEmpty)

  override def isQuiet(at: Moment): Boolean =
    current.forall(_.inbox.head.isEmpty) && (!isBehind || current.exists(_.isSilent(millis(at))))

  /** The service sends the next event when there is one. */
  override def pauseAfter(page: Page, now: Instant): FiniteDuration = Duration.Zero

  override def restart(): Unit = {
    current.foreach(_.close())
    current = None
    arrived = None
    continuation = None
    tip = new SilentTip
  }

  /** Any thread may call this. */
  override def close(): Unit = {
    isClosed = true
    current.foreach(_.close())
  }
}

private[feed] object PushedPages {

  /** The service ends a subscription after five minutes. */
  val Renewal: FiniteDuration = 285.seconds

  /**
   * The shortest time between two calls: more than the time for which the service refuses another
   * one.
   */
  private val ShortestRenewal = 8.seconds

  /** The part of the time of a subscription by which renewals are spread. */
  private val RenewalJitter = 0.2

  private val MostSilences = 5

  /** Quota of `SubscribeToShard` per consumer and shard. */
  private val CallPeriod = 1.second

  /** The time after a call for which the service refuses another one. */
  private val Takeover = 5.seconds

  /** An executor that has lost its driver, and not Kinesis, goes on for a minute. */
  private val MostTakeovers = 10
  private val TakeoverPeriod = 5.minutes

  private def millis(at: Moment): Long = at.steady.toEpochMilli

  /**
   * A page that has arrived and is not taken.
   *
   * @param of its subscription
   * @param at when it arrived, in steady milliseconds
   */
  private final case class Arrived(
      of: Subscribed,
      records: PackedRecords,
      event: ShardEvent,
      isAtTip: Boolean,
      at: Long
  )
}
