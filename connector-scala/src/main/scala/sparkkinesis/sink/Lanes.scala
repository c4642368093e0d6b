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

  private val hash = new KeyHash
  private var map = stream.shards
  private var lanes = map.shards.map(newLane(_, now))
  private var listed = Option.empty[ShardMap]
  private var misplaced = Vector.empty[Misplaced]
  private var inFlight = 0
  private var turn = 0
  private var isStale = false
  private var lookAt = 0L
  private var looksInVain = 0

  // Until then no request can be full.
  private var recordsToGo = 0
  private var bytesToGo = 0L

  /** Takes a record; `hi` and `lo` are the hash key that chooses its shard. */
  def add(entry: PutEntry, hi: Long, lo: Long, now: Long): Unit = {
    val size = EntrySize.of(entry)
    counters.taken(size)
    laneOf(hi, lo).add(entry, hi, lo, now, None)
    recordsToGo -= 1
    bytesToGo -= size
  }

  /** Whether so much has come since `next` was last asked that a request may be full. */
  def isWorthALook: Boolean = recordsToGo <= 0 || bytesToGo <= 0

  /**
   * @param isPressed whether records go at once, alone if need be
   * @throws DeliveryTimeoutException where a record has been tried for too long
   */
  def next(now: Long, isPressed: Boolean): Next = {
    requireInTime(now)
    if (listed.isDefined && isOrdered && inFlight > 0) Next.Wait(Lane.Never)
    else {
      listed.foreach(change(_, now))
      scan(now, isPressed)
    }
  }

  private def scan(now: Long, isPressed: Boolean): Next = {
    var (wake, records, bytes, isDue) = (Lane.Never, 0L, 0L, false)
    lanes.foreach { lane =>
      if (!lane.isEmpty) {
        val ready = lane.readyAt(now)
        val due = dueAt(lane, isPressed, now)
        if (ready <= now) {
          records += lane.size
          bytes += lane.bytes
          isDue ||= due <= now
        } else if (due <= now && ready < Lane.Never) lane.block(now)
        wake = Seq(wake, math.max(ready, due), deadline(lane)).min
      }
    }
    if (isDue || records >= limits.records || bytes >= limits.bytes) {
      recordsToGo = 0
      Next.Send(gather(now, isPressed))
    } else {
      recordsToGo = (limits.records - records).toInt
      bytesToGo = limits.bytes - bytes
      Next.Wait(wake)
    }
  }

  /** Lanes in turn, so that none is first each time. */
  private def gather(now: Long, isPressed: Boolean): Request = {
    val request = new Request.Gathering(limits)
    val first = turn
    var i = 0
    while (i < lanes.size && !request.isFull) {
      turn = (first + i) % lanes.size
      val lane = lanes(turn)
      if (!lane.isEmpty && lane.readyAt(now) <= now)
        lane.give(request, dueAt(lane, isPressed, now) <= now, now)
      i += 1
    }
    turn = (turn + 1) % lanes.size
    inFlight += 1
    counters.requests += 1
    counters.inFlight += 1
    counters.entries += request.size
    request.result(now)
  }

  private def dueAt(lane: Lane, isPressed: Boolean, now: Long): Long =
    if (isPressed) now else lane.since + options.linger.toMillis

  private def deadline(lane: Lane): Long =
    lane.trouble.fold(Lane.Never)(_.since + options.deliveryTimeout.toMillis)

  /**
   * The service answered.
   *
   * @throws KinesisException where it refused a record for good
   */
  def answered(request: Request, results: Seq[PutResult], now: Long): Unit =
    if (results.size != request.records.length)
      failed(
        request,
        new KinesisException.ServiceFailure(
          s"PutRecords of stream ${stream.ref} answered ${results.size} results " +
            s"for ${request.records.length} records."
        ),
        now
      )
    else {
      finished(request, now)
      val states = results.toIndexedSeq
      states.foreach {
        case failure: PutResult.Failed if PutErrors.isPermanent(failure.errorCode) =>
          throw refused(failure)
        case _ => ()
      }
      request.parts.foreach(answered(request, _, states, now))
      settle(now)
    }

  private def answered(
      request: Request,
      part: Request.Part,
      states: IndexedSeq[PutResult],
      now: Long
  ): Unit = {
    val outcome = new Outcome
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
          trouble(record, request.sentAt, s"$message ($code)", None)
      }
      i += 1
    }
    part.lane.rate.answered(outcome.written, outcome.throttled, part.isProbe, now)
    giveBack(part.lane, outcome.again, outcome.written.records > 0, now)
  }

  /**
   * The call failed as a whole, perhaps after it took effect.
   *
   * @throws KinesisException the same, where waiting does not mend it
   */
  def failed(request: Request, e: KinesisException, now: Long): Unit = {
    finished(request, now)
    counters.failedRequests += 1
    if (!e.isRetryable) throw e
    e match {
      case _: KinesisException.Throttled | _: KinesisException.LimitExceeded =>
        counters.throttled += request.records.length
      case _: KinesisException.Unreachable => counters.unanswered += 1
      case _ => ()
    }
    request.parts.foreach { part =>
      part.lane.rate.unanswered(part.isProbe)
      val records = request.records.slice(part.from, part.until)
      records.foreach(trouble(_, request.sentAt, e.getMessage, Some(e)))
      giveBack(part.lane, records.toVector, isProgress = false, now)
    }
  }

  private def finished(request: Request, now: Long): Unit = {
    inFlight -= 1
    counters.inFlight -= 1
    counters.times.add(now - request.sentAt)
    recordsToGo = 0
  }

  private def trouble(
      record: PendingRecord,
      since: Long,
      message: String,
      cause: Option[Throwable]
  ): Unit = if (record.trouble.isEmpty) record.trouble = Some(Trouble(since, message, cause))

  private def giveBack(
      lane: Lane,
      again: Vector[PendingRecord],
      isProgress: Boolean,
      now: Long
  ): Unit = {
    counters.retried += again.size
    if (lanes.contains(lane))
      lane.returned(again, isProgress, now, pause(_))
    else {
      lane.returned(Nil, isProgress, now, pause(_))
      again.foreach(reroute(_, now))
    }
  }

  private def pause(failures: Int): Long = Backoffs.delay(failures, chance()).toMillis

  /**
   * A record is written where it belongs, or where any reader finds it. KCL drops an aggregate that
   * holds a record of another shard: that is judged by what is known of the shard.
   */
  private def arrived(record: PendingRecord, shard: ShardId, lane: Lane, sentAt: Long): Unit =
    if (shard == lane.shard || (map eq ShardMap.Whole)) counters.written(record)
    else {
      isStale = true
      if (record.isAggregate) misplaced :+= Misplaced(record, shard, sentAt)
      else counters.written(record)
    }

  /** Judges each aggregate whose shard is known by now. */
  private def settle(now: Long): Unit = if (misplaced.nonEmpty) {
    val (known, unknown) = misplaced.partition(it => map.range(it.shard).isDefined)
    misplaced = unknown
    known.foreach { it =>
      val range = map.range(it.shard).get
      val keys = UserRecords.of(it.record.entry)
      if (keys.forall(entry => range.contains(hashKey(entry)))) counters.written(it.record)
      else {
        counters.misplaced += 1
        val said = s"An aggregate landed in shard ${it.shard}, to which not all of it belongs."
        trouble(it.record, it.sentAt, said, None)
        reroute(it.record, now)
      }
    }
  }

  private def hashKey(entry: PutEntry): HashKey =
    entry.explicitHashKey.getOrElse(HashKey.of(entry.partitionKey))

  /** To the lane that it belongs to by now; an aggregate in pieces, which may belong to several. */
  private def reroute(record: PendingRecord, now: Long): Unit =
    if (!record.isAggregate) laneOf(record.hi, record.lo).enqueue(record)
    else
      UserRecords.of(record.entry).foreach { entry =>
        hash.hash(entry)
        laneOf(hash.hi, hash.lo).add(
          entry,
          hash.hi,
          hash.lo,
          math.min(now, record.since),
          record.trouble
        )
      }

  /** As they are known here. */
  def shards: ShardMap = map

  /** Whether the stream's shards should be listed: it seems to have others by now. */
  def wantsShards(now: Long): Boolean =
    (isStale || misplaced.nonEmpty) && listed.isEmpty && now >= lookAt

  /** The shards were listed anew. */
  def learn(shards: ShardMap, now: Long): Unit = {
    val isNews = shards ne map
    looksInVain = if (isNews) 0 else looksInVain + 1
    lookAt = now + LookPauses.delay(looksInVain + 1, chance()).toMillis
    isStale = false
    if (isNews) listed = Some(shards)
  }

  /** They could not be listed; another attempt follows. */
  def learnedNothing(now: Long): Unit = {
    looksInVain += 1
    lookAt = now + LookPauses.delay(looksInVain + 1, chance()).toMillis
  }

  private def change(shards: ShardMap, now: Long): Unit = {
    listed = None
    map = shards
    val before = lanes
    lanes = shards.shards.map(id => before.find(_.shard == id).getOrElse(newLane(id, now)))
    turn = 0
    before.filterNot(lanes.contains).flatMap(_.drain()).foreach(reroute(_, now))
    settle(now)
  }

  /** Milliseconds that records waited for their shard, of the shard with the longest wait. */
  def sleep: Long = lanes.iterator.map(_.sleep).maxOption.getOrElse(0L)

  private def isOrdered = options.isOrdered

  private def laneOf(hi: Long, lo: Long): Lane = lanes(map.indexOf(hi, lo))

  private def newLane(shard: ShardId, now: Long): Lane = new Lane(
    shard,
    stream.rate(shard, now),
    options.aggregation.map(new OpenAggregate(_, stream.maxRecordBytes)),
    isOrdered
  )

  private def requireInTime(now: Long): Unit = {
    lanes.find(deadline(_) <= now).foreach { lane =>
      lane.trouble.foreach(trouble => throw timedOut(lane.shard, trouble))
    }
    misplaced.find(_.sentAt + options.deliveryTimeout.toMillis <= now).foreach { it =>
      val said = s"An aggregate landed in shard ${it.shard}, which is not listed."
      throw timedOut(it.shard, Trouble(it.sentAt, said, None))
    }
  }

  private def timedOut(shard: ShardId, first: Trouble): DeliveryTimeoutException =
    new DeliveryTimeoutException(
      s"Stream ${stream.ref}, shard $shard, did not take a record within " +
        s"${options.deliveryTimeout} (deliveryTimeout); ${counters.waiting} records of this task " +
        s"wait. The first failure was: ${first.message}",
      first.cause.orNull
    )

  private def refused(failure: PutResult.Failed): KinesisException =
    new KinesisException.InvalidArgument(
      s"PutRecords of stream ${stream.ref} refused a record: ${failure.message} " +
        s"(${failure.errorCode})."
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

  private val Backoffs = Backoff(base = 100.millis, cap = 5.seconds)
  private val LookPauses = Backoff(base = 500.millis, cap = 30.seconds)

  /** An aggregate that was written to another shard than was thought. */
  private final case class Misplaced(record: PendingRecord, shard: ShardId, sentAt: Long)

  /** What came of a lane's part of a request. */
  private final class Outcome {
    private var writtenRecords, throttledRecords = 0
    private var writtenBytes, throttledBytes = 0L
    private val failed = Vector.newBuilder[PendingRecord]

    def addWritten(record: PendingRecord): Unit = {
      writtenRecords += 1
      writtenBytes += record.size
    }

    def addFailed(record: PendingRecord, isThrottled: Boolean): Unit = {
      failed += record
      if (isThrottled) {
        throttledRecords += 1
        throttledBytes += record.size
      }
    }

    def written: ShardRate.Sum = ShardRate.Sum(writtenRecords, writtenBytes)
    def throttled: ShardRate.Sum = ShardRate.Sum(throttledRecords, throttledBytes)
    def again: Vector[PendingRecord] = failed.result()
  }
}
