package sparkkinesis.sink.write

import scala.collection.mutable

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.{PutEntry, ShardId, ShardMap}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.lane._
import sparkkinesis.sink.metrics.{ShardTraffic, SinkCounters}
import sparkkinesis.sink.once.{Hash128, OnceSender, ShardInDoubt}
import sparkkinesis.sink.rate.{RequestLimit, TargetStream}

/**
 * Decides which records of one stream form the next request, and when it is sent. The records wait
 * in lanes, one per shard. It has no threads and no clock: the caller passes the time in
 * milliseconds, sends the requests, and reports their results.
 *
 * With `isOrdered` the records of a partition key are written in the order in which they were
 * added; some may be written twice. A lane sends nothing while an answer for it is missing, and
 * failed records go first. The lanes change to other shards only while no request is in flight.
 *
 * With `once`, records of unknown outcome wait until [[recovered]] tells which are in the stream.
 *
 * @param once for exactly once
 * @param chance evenly distributed in `[0, 1)`
 * @param start the current time
 */
private[sink] final class StreamWriter(
    val stream: TargetStream,
    options: SinkOptions,
    once: Option[OnceSender],
    chance: () => Double,
    counters: SinkCounters,
    start: Long
) {
  import StreamWriter._

  private val lanes = new LaneSet(stream, options, once.map(_.tags), chance, counters, start)
  private val refresh = new ShardRefresh(chance)
  private val inDoubt = once.map(it => new RecordsInDoubt(it.terms))
  private val responses = new PutAnswers(stream.ref, lanes, refresh, inDoubt, chance, counters)
  private val deadline = new DeliveryDeadline(stream.ref, options, counters)
  private var newShards = Option.empty[ShardMap]
  private val inFlight = new RequestsInFlight(stream.requests)
  private var listing, isRecovering = false
  private val timeout = options.requestTimeout.toMillis
  private val limits = RequestLimits.of(options)

  /** The server may handle less than the options allow. */
  private def requestLimits = {
    val parts = stream.requestSize.parts
    if (parts == 1) limits
    else RequestLimits(math.max(1, limits.records / parts), limits.bytes / parts)
  }

  /** Adds a record. */
  def add(entry: PutEntry, now: Long): Unit = {
    counters.recordPut(entry.size.toLong)
    lanes.add(entry, now)
  }

  /** Whether records may be enough for a full request. */
  def mayHaveFullRequest: Boolean = lanes.waiting.mayFill(requestLimits)

  /** Whether the last `next` had a request, and too many of the executor were in flight. */
  def isHeldBack: Boolean = inFlight.isHeldBack

  /**
   * What to do now. To be called after each change, and again when the wait is over.
   *
   * @param isUrgent whether records are sent at once, even alone, because the caller waits for them
   */
  def next(now: Long, isUrgent: Boolean): Next = {
    val isChanging = newShards.isDefined && options.isOrdered && inFlight.nonEmpty
    if (!isChanging) newShards.foreach(changeShards(_, now))
    if (isChanging) Next.Wait(Lane.Never) else nextOfLanes(now, isUrgent)
  }

  /** The right to send has ended: from now on the shards hold up nothing. */
  def endSleep(now: Long): Unit = lanes.endSleep(now)

  /** Gives up records that have been tried for too long. See [[DeliveryDeadline.check]]. */
  def checkDeadline(now: Long): Vector[ExpiredRecord] = {
    val oldestInDoubt = if (isRecovering) None else inDoubt.flatMap(_.oldest)
    val others = responses.oldestMisplaced ++ oldestInDoubt
    deadline.check(lanes, inFlight.oldest(_), others, now)
  }

  private def nextOfLanes(now: Long, isUrgent: Boolean): Next = {
    val limits = requestLimits
    val isWanted = lanes.waiting.hasRequest(limits, isUrgent, now)
    val mayBegin = inFlight.begin(isWanted, now)
    val request = if (mayBegin) inFlight.sent(lanes.waiting.take(limits, isUrgent, now)) else None
    request.fold[Next](Next.Wait(wakeAt(now, isUrgent))) { it =>
      counters.requestSent(it.records.length)
      Next.Send(it)
    }
  }

  private def wakeAt(now: Long, isUrgent: Boolean): Long = {
    val times = math.min(lanes.waiting.nextAt(isUrgent), deadline.after(lanes.waiting.firstSent))
    val wakeAt = if (isHeldBack) math.min(times, now + HeldPause) else times
    math.max(wakeAt, now + 1) // another task may have used up what a shard allowed
  }

  /**
   * The service answered.
   *
   * @throws KinesisException if it rejected a record, and a retry cannot succeed
   */
  def answered(request: Request, results: Seq[PutResult], now: Long): Unit =
    if (inFlight.answered(request, now)) {
      ended(request, now)
      stream.requestSize.answered(fullness(request), now - request.sentAt <= timeout / SoonPart)
      responses.answered(request, results, now)
    }

  /**
   * The call failed as a whole. Kinesis may have written the records.
   *
   * @throws KinesisException of the same class, if a retry cannot succeed
   */
  def failed(request: Request, e: KinesisException, now: Long): Unit =
    if (inFlight.failed(request, e, now)) {
      ended(request, now)
      e match {
        case _: KinesisException.TooLarge if request.records.length > 1 =>
          stream.requestSize.refused(request.bytes, fullness(request))
        case _: KinesisException.Unreachable if now - request.sentAt >= timeout =>
          stream.requestSize.unanswered(request.sentAt, now)
        case _ => ()
      }
      responses.failed(request, e, now)
    }

  /** The size of the request, as a fraction of the largest one that the options allow. */
  private def fullness(request: Request): Double = math.max(
    request.records.length.toDouble / limits.records,
    request.bytes.toDouble / limits.bytes
  )

  /** When to look into the stream for records of unknown outcome; `Lane.Never` if there is none. */
  def recoverAt: Long = inDoubt.fold(Lane.Never)(_.readyAt)

  /** Begins a look into the stream, unless one is in progress. Returns what to look up. */
  def beginRecovery(now: Long): Option[Seq[ShardInDoubt]] = {
    val question = inDoubt.filterNot(_ => isRecovering).map(_.beginLook(now))
    isRecovering ||= question.nonEmpty
    question
  }

  /**
   * A look into the stream found these aggregates.
   *
   * @param askedAt when it began, in milliseconds
   */
  def recovered(found: Set[Hash128], askedAt: Long, now: Long): Unit = {
    isRecovering = false
    responses.recovered(found, askedAt, now)
  }

  /** Stops waiting for answers. Answers that still arrive have no effect. */
  def abandon(): Unit = inFlight.abandon()

  private def ended(request: Request, now: Long): Unit =
    counters.requestEnded(now - request.sentAt)

  /** The shards that the lanes stand for. */
  def shards: ShardMap = lanes.shards

  /** Whether to list the shards of the stream again. */
  def needsShards(now: Long): Boolean = newShards.isEmpty && !listing && refresh.isDue(now)

  def listingBegan(): Unit = listing = true

  def isListing: Boolean = listing

  /** A listing showed these shards. */
  def listed(shards: ShardMap, now: Long): Unit = {
    listing = false
    if (shards eq lanes.shards) refresh.unchanged(isRepeated = responses.hasMisplaced, now)
    else {
      refresh.changed(now)
      newShards = Some(shards)
    }
  }

  /** A listing failed; the next one follows after a pause. */
  def listingFailed(now: Long): Unit = {
    listing = false
    refresh.unchanged(isRepeated = true, now)
  }

  private def changeShards(shards: ShardMap, now: Long): Unit = {
    newShards = None
    lanes.changeShards(shards, now)
    responses.lanesChanged(now)
  }

  /** Number of times that a lane was asked whether its shard takes records. */
  def looksAtLanes: Long = lanes.waiting.looksAtLanes

  /** What was done with the shards. */
  def traffic(now: Long): Vector[ShardTraffic] = lanes.traffic(now)
}

private[sink] object StreamWriter {

  /** Milliseconds until the next look whether other tasks have fewer requests in flight. */
  private val HeldPause = 20L

  /** A request twice as large would take half of the timeout. */
  private val SoonPart = 4

  /** What to do now. */
  sealed trait Next

  object Next {
    final case class Send(request: Request) extends Next

    /** @param until nothing changes by itself before this time; `Lane.Never` without such a time */
    final case class Wait(until: Long) extends Next
  }
}

/**
 * The requests of one writer to one stream whose answers are awaited.
 *
 * @param limit of all tasks of the executor together
 */
private final class RequestsInFlight(limit: RequestLimit) {
  private val awaited = mutable.Set.empty[Request]
  private var isHeld = false

  def nonEmpty: Boolean = awaited.nonEmpty

  /** The oldest record of each request, if it was sent by then. */
  def oldest(before: Long): Iterable[(ShardId, Failures)] =
    awaited.iterator.filter(_.firstSentAt <= before).map(_.oldest).toVector

  /** Whether a request waits because of the limit. */
  def isHeldBack: Boolean = isHeld

  /**
   * Whether to send a request now. If so, it counts from now on: see `sent`.
   *
   * @param isWanted whether there is one
   */
  def begin(isWanted: Boolean, now: Long): Boolean = {
    if (isHeld && !isWanted) limit.leave(this) // otherwise its turn holds up other tasks
    isHeld = isWanted && !limit.begin(this, now)
    isWanted && !isHeld
  }

  /** After `begin`: the request is sent, or there was none after all. Returns it. */
  def sent(request: Option[Request]): Option[Request] = {
    if (request.isEmpty) limit.cancelled()
    awaited ++= request
    request
  }

  /** @return whether the answer was still awaited */
  def answered(request: Request, now: Long): Boolean = {
    val isAwaited = awaited.remove(request)
    if (isAwaited) limit.answered(request.sentAt, now)
    isAwaited
  }

  /** @return whether the answer was still awaited */
  def failed(request: Request, e: KinesisException, now: Long): Boolean = e match {
    case _: KinesisException.Unreachable =>
      val isAwaited = awaited.remove(request)
      if (isAwaited) limit.unanswered(request.sentAt, now)
      isAwaited
    case _: KinesisException.Withheld =>
      val isAwaited = awaited.remove(request)
      if (isAwaited) limit.cancelled()
      isAwaited
    case _ => answered(request, now)
  }

  /** Stops waiting for answers. */
  def abandon(): Unit = {
    awaited.foreach(_ => limit.cancelled())
    awaited.clear()
    limit.leave(this)
  }
}
