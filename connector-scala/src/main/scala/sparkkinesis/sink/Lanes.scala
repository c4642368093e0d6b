package sparkkinesis.sink

import scala.concurrent.duration._

import sparkkinesis.client.{Backoff, KinesisException, PutResult}
import sparkkinesis.model._

/**
 * What a writer has for one stream, in a lane for each shard: which records make the next request,
 * and when. No thread and no clock: its owner says what time it is, in milliseconds, sends the
 * requests, and tells what came of them.
 *
 * With `isOrdered` the records of one key are written in the order they came, some perhaps twice:
 * nothing of a lane is sent while an answer for it is to come, and what failed goes first. Lanes
 * change to other shards only between requests.
 *
 * @param chance evenly distributed in `[0, 1)`
 */
private[sink] final class Lanes(
    val stream: TargetStream,
    limits: RequestLimits,
    options: SinkOptions,
    chance: () => Double,
    counters: SinkCounters,
    now: Long
) {
  import Lanes._

  private val lanes = new LaneSet(stream, options, now)
  private val shardLook = new ShardLook(chance)
  private val misplaced = new MisplacedAggregates
  private var listed = Option.empty[ShardMap]
  private var inFlight = 0
  private var turn = 0
  private var expiredSince = Option.empty[Long]

  // Until then no request can be full.
  private var recordsToGo = 0L
  private var bytesToGo = 0L

  /** Takes a record; `hi` and `lo` are the hash key that chooses its shard. */
  def add(entry: PutEntry, hi: Long, lo: Long, now: Long): Unit = {
    val size = EntrySize.of(entry)
    counters.taken(size)
    lanes.add(entry, hi, lo, now)
    recordsToGo -= 1
    bytesToGo -= size
  }

  /** No other request goes for now: a look is worth it once there may be a full one more. */
  def awaitFull(): Unit = {
    recordsToGo = limits.records.toLong
    bytesToGo = limits.bytes
  }

  /** Whether so much has come since `next` was last asked that a request may be full. */
  def isWorthALook: Boolean = recordsToGo <= 0 || bytesToGo <= 0

  /**
   * @param isPressed whether records go at once, alone if need be
   * @throws DeliveryTimeoutException where a record has been tried for too long
   */
  def next(now: Long, isPressed: Boolean): Next = {
    requireInTime(now)
    val isChanging = listed.isDefined && options.isOrdered && inFlight > 0
    if (!isChanging) listed.foreach(change(_, now))
    if (isChanging) Next.Wait(Lane.Never) else scan(now, isPressed)
  }

  private def scan(now: Long, isPressed: Boolean): Next = {
    var (wake, records, bytes, isDue) = (Lane.Never, 0L, 0L, false)
    lanes.all.foreach { lane =>
      if (!lane.isEmpty) {
        val ready = lane.readyAt(now)
        val due = dueAt(lane, isPressed, now)
        if (ready <= now) {
          records += lane.size
          bytes += lane.bytes
          isDue ||= due <= now
        } else if (due <= now && ready < Lane.Never) lane.block(now)
        wake = math.min(wake, math.max(ready, due))
        lane.trouble.foreach(it => wake = math.min(wake, deadline(it)))
      }
    }
    recordsToGo = limits.records - records
    bytesToGo = limits.bytes - bytes
    val request = if (isDue || isWorthALook) gather(now, isPressed) else None
    request.fold[Next] {
      Next.Wait(math.max(wake, now + 1)) // another task was quicker to take what a shard allowed
    } { it =>
      sent(it)
      Next.Send(it)
    }
  }

  /** Lanes in turn, so that none is first each time. */
  private def gather(now: Long, isPressed: Boolean): Option[Request] = {
    val request = new Request.Gathering(limits)
    val all = lanes.all
    val first = turn % all.size
    var i = 0
    while (i < all.size && !request.isFull) {
      val lane = all((first + i) % all.size)
      if (!lane.isEmpty && lane.readyAt(now) <= now)
        lane.give(request, dueAt(lane, isPressed, now) <= now, now)
      i += 1
    }
    turn = first + math.max(1, i - 1) // who had no room for all goes first
    if (request.size == 0) None else Some(request.result(now))
  }

  private def sent(request: Request): Unit = {
    recordsToGo = 0
    inFlight += 1
    counters.sent(request.records.length)
  }

  private def dueAt(lane: Lane, isPressed: Boolean, now: Long): Long =
    if (isPressed) now else lane.since + options.linger.toMillis

  /**
   * The service answered.
   *
   * @throws KinesisException where it refused a record for good
   */
  def answered(request: Request, results: Seq[PutResult], now: Long): Unit =
    if (results.size != request.records.length)
      failed(request, incomplete(results.size, request), now)
    else {
      finished(request, now)
      expiredSince = None
      val states = results.toIndexedSeq
      requirePassing(states)
      request.parts.foreach(answered(request, _, states, now))
      settle()
    }

  private def answered(
      request: Request,
      part: Request.Part,
      states: IndexedSeq[PutResult],
      now: Long
  ): Unit = {
    val outcome = new PutOutcome
    var i = part.from
    while (i < part.until) {
      val record = request.records(i)
      states(i) match {
        case PutResult.Written(shard, _) =>
          outcome.addWritten(record)
          arrived(record, shard, part.lane, request.sentAt)
        case PutResult.Failed(code, message) =>
          val isThrottled = PutErrors.isThrottling(code)
          if (isThrottled) counters.throttled += 1 else counters.failed += 1
          outcome.addFailed(record, isThrottled)
          record.failed(request.sentAt, s"$message ($code)", None)
      }
      i += 1
    }
    part.lane.rate
      .answered(outcome.written, outcome.throttled, part.isProbe, request.sentAt, now)
    giveBack(part.lane, outcome.again, outcome.written.records > 0, now)
  }

  private def arrived(record: PendingRecord, shard: ShardId, lane: Lane, sentAt: Long): Unit = {
    val isElsewhere = lanes.isElsewhere(shard, lane)
    if (isElsewhere) shardLook.doubt()
    if (isElsewhere && record.isAggregate) misplaced.add(record, shard, lane, sentAt)
    else counters.written(record)
  }

  private def settle(): Unit = if (misplaced.nonEmpty) {
    val (good, bad) = misplaced.judge(lanes.shards)
    good.foreach(counters.written)
    counters.misplaced += bad.size
    lanes.addFirst(bad)
    if (misplaced.nonEmpty) shardLook.doubt()
  }

  /**
   * The call failed as a whole, perhaps after it took effect.
   *
   * @throws KinesisException the same, where waiting does not mend it
   */
  def failed(request: Request, e: KinesisException, now: Long): Unit = {
    finished(request, now)
    counters.failed(request, e)
    if (!isPassing(e, now)) throw e
    request.parts.foreach { part =>
      val records = request.records.slice(part.from, part.until)
      val sent = ShardRate.Sum(records.length, records.iterator.map(_.size.toLong).sum)
      part.lane.rate.unanswered(sent, part.isProbe, now)
      records.foreach(_.failed(request.sentAt, e.getMessage, Some(e)))
      giveBack(part.lane, records.toVector, isProgress = false, now)
    }
  }

  /** Other credentials may come in place of those that have expired. */
  private def isPassing(e: KinesisException, now: Long): Boolean = e match {
    case _: KinesisException.CredentialsExpired =>
      val since = expiredSince.getOrElse(now)
      expiredSince = Some(since)
      now - since < RenewalTime.toMillis
    case _ => e.isRetryable
  }

  private def finished(request: Request, now: Long): Unit = {
    inFlight -= 1
    recordsToGo = 0
    counters.finished(now - request.sentAt)
  }

  private def giveBack(
      lane: Lane,
      again: Vector[PendingRecord],
      isProgress: Boolean,
      now: Long
  ): Unit = {
    counters.retried += again.size
    val isCurrent = lanes.contains(lane)
    lane.returned(if (isCurrent) again else Nil, isProgress, now, pause(_))
    if (!isCurrent) again.foreach(lanes.addAgain)
  }

  private def pause(failures: Int): Long = Backoffs.delay(failures, chance()).toMillis

  /** The stream's shards, as they are known here. */
  def shards: ShardMap = lanes.shards

  /** Whether they should be listed anew. */
  def wantsShards(now: Long): Boolean = listed.isEmpty && shardLook.isDue(now)

  /** They were listed. */
  def learn(shards: ShardMap, now: Long): Unit =
    if (shards eq lanes.shards) shardLook.foundNothing(isAnswer = !misplaced.nonEmpty, now)
    else {
      shardLook.found(now)
      listed = Some(shards)
    }

  /** They could not be listed; another attempt follows. */
  def learnedNothing(now: Long): Unit = shardLook.foundNothing(isAnswer = false, now)

  private def change(shards: ShardMap, now: Long): Unit = {
    listed = None
    lanes.change(shards, now)
    misplaced.move(lanes.of)
    settle()
  }

  /** Of the shard that records waited for longest. */
  def sleep(now: Long): Option[ShardSleep] = lanes.sleep(now)

  private def requireInTime(now: Long): Unit = {
    val troubles =
      lanes.all.iterator.flatMap(lane => lane.trouble.map(lane.shard -> _)) ++ misplaced.oldest
    troubles.find { case (_, trouble) => deadline(trouble) <= now }.foreach {
      case (shard, trouble) => throw timedOut(shard, trouble)
    }
  }

  private def deadline(trouble: Trouble): Long = trouble.since + options.deliveryTimeout.toMillis

  private def timedOut(shard: ShardId, first: Trouble): DeliveryTimeoutException =
    new DeliveryTimeoutException(
      s"Stream ${stream.ref}, shard $shard, did not take a record within " +
        s"${options.deliveryTimeout} (deliveryTimeout); ${counters.waiting} records of this task " +
        s"wait. The first failure was: ${first.message}",
      first.cause.orNull
    )

  private def requirePassing(states: Seq[PutResult]): Unit = states.foreach {
    case PutResult.Failed(code, message) if PutErrors.isPermanent(code) =>
      throw new KinesisException.InvalidArgument(
        s"PutRecords of stream ${stream.ref} refused a record: $message ($code)."
      )
    case _ => ()
  }

  private def incomplete(results: Int, request: Request) = new KinesisException.ServiceFailure(
    s"PutRecords of stream ${stream.ref} answered $results results " +
      s"for ${request.records.length} records."
  )
}

private[sink] object Lanes {

  /** What to do now. */
  sealed trait Next

  object Next {
    final case class Send(request: Request) extends Next

    /** @param until by itself nothing changes before; `Lane.Never` while there is nothing */
    final case class Wait(until: Long) extends Next
  }

  private val RenewalTime = 30.seconds
  private val Backoffs = Backoff(base = 100.millis, cap = 5.seconds)
}
