package sparkkinesis.sink.write

import scala.concurrent.duration._

import sparkkinesis.client.{Backoff, ErrorCodes, KinesisException, PutResult, Retry}
import sparkkinesis.model.{SequenceNumber, ShardId, StreamRef}
import sparkkinesis.sink.lane.RecordsInDoubt.FailedPart
import sparkkinesis.sink.lane._
import sparkkinesis.sink.metrics.{SinkCounter, SinkCounters}
import sparkkinesis.sink.once.Hash128
import sparkkinesis.sink.rate.RecordSum

/**
 * Handles what `PutRecords` returns: each record is acknowledged, returned to its lane to be sent
 * again, or kept as a misplaced aggregate.
 *
 * @param refresh marked as stale if Kinesis wrote a record to another shard than predicted
 * @param inDoubt keeps records of unknown outcome, for exactly once
 * @param chance evenly distributed in `[0, 1)`
 */
private[sink] final class PutAnswers(
    stream: StreamRef,
    lanes: LaneSet,
    refresh: ShardRefresh,
    inDoubt: Option[RecordsInDoubt],
    chance: () => Double,
    counters: SinkCounters
) {
  import PutAnswers._

  private val misplaced = new MisplacedAggregates
  private var expiredSince = Option.empty[Long]

  /** @throws KinesisException if Kinesis rejected a record, and a retry cannot succeed */
  def answered(request: Request, results: Seq[PutResult], now: Long): Unit =
    if (results.size != request.records.length)
      failed(request, incomplete(results.size, request), now)
    else {
      expiredSince = None
      val indexed = results.toIndexedSeq
      if (results.isInstanceOf[PutResult.Fallback]) counters.add(SinkCounter.FallbackResponses, 1)
      val all = Some(results).collect { case it: PutResult.AllWritten => it }
      request.parts.foreach { part =>
        if (all.exists(lanes.areWritten(_, part))) written(request, part, indexed, now)
        else partAnswered(request, part, indexed, now)
      }
      resolveMisplaced(now)
      if (all.isEmpty) indexed.foreach(requireRetryable)
    }

  /** Every record of the part is where it belongs. */
  private def written(
      request: Request,
      part: Request.Part,
      results: IndexedSeq[PutResult],
      now: Long
  ): Unit = {
    var size, userRecords, userBytes = 0L
    var i = part.from
    while (i < part.until) {
      val record = request.records(i)
      size += record.size
      userRecords += record.userRecords
      userBytes += record.bufferedBytes
      i += 1
    }
    val sum = RecordSum((part.until - part.from).toLong, size)
    counters.recordsWritten(userRecords, userBytes)
    count(part, sum, RecordSum.Zero, request.sentAt, now)
    for (it <- inDoubt; number <- numberOf(results(part.until - 1)))
      it.acknowledged(part.lane.shard, number, now)
    part.lane.requestEnded(Nil, isFailure = false, isProgress = true, request.sentAt, now, _ => 0)
  }

  private def numberOf(result: PutResult) = Some(result).collect {
    case PutResult.Written(_, number) => number
  }

  private def count(
      part: Request.Part,
      written: RecordSum,
      throttled: RecordSum,
      sentAt: Long,
      now: Long
  ): Unit = {
    part.lane.rate.answered(written, throttled, sentAt, now)
    if (written.records > 0) part.lane.acknowledged(written, now)
    counters.kinesisRecordsWritten(written.records, written.bytes)
  }

  private def partAnswered(
      request: Request,
      part: Request.Part,
      results: IndexedSeq[PutResult],
      now: Long
  ): Unit = {
    var written, throttled = RecordSum.Zero
    val failed = Vector.newBuilder[PendingRecord]
    var unknown = Set.empty[PendingRecord]
    var last = Option.empty[SequenceNumber]
    var i = part.from
    while (i < part.until) {
      val record = request.records(i)
      results(i) match {
        case PutResult.Written(shard, number) =>
          val isMisplaced = lanes.isMisplaced(shard, part.lane)
          if (!isMisplaced) last = Some(number)
          written += record.size
          if (isMisplaced) writtenElsewhere(record, shard, part.lane, request.sentAt)
          else acknowledged(record)
        case PutResult.Failed(code, message) =>
          val isThrottled = ErrorCodes.isThrottling(code)
          counters.add(
            if (isThrottled) SinkCounter.ThrottledRecords else SinkCounter.FailedRecords,
            1
          )
          failed += record
          if (isThrottled) throttled += record.size else unknown += record
          record.failed(request.sentAt, s"$message ($code)", None, mayBeWritten = !isThrottled)
      }
      i += 1
    }
    count(part, written, throttled, request.sentAt, now)
    for (it <- inDoubt; number <- last) it.acknowledged(part.lane.shard, number, now)
    val isProgress = written.records > 0
    val pauses = if (throttled.records > 0) RefusalPauses else Pauses
    retry(FailedPart(part.lane, failed.result(), unknown, isProgress, request.sentAt), pauses, now)
  }

  /**
   * Sends the records again: at once, or when it is known which of them are in the stream. If order
   * matters, none overtakes another one.
   */
  private def retry(part: FailedPart, pauses: Backoff, now: Long): Unit =
    inDoubt.filter(_ => part.records.exists(part.isUnknown)) match {
      case Some(waiting) =>
        val (unknown, refused) = part.records.partition(lanes.isOrdered || part.isUnknown(_))
        waiting.add(part.copy(records = unknown))
        if (refused.nonEmpty) {
          part.lane.hold() // the lane counts one more answer
          returnToLane(part, refused, pauses, now)
        }
      case None => returnToLane(part, part.records, pauses, now)
    }

  /**
   * A look into the stream found these aggregates.
   *
   * @param askedAt when it began, in milliseconds
   */
  def recovered(found: Set[Hash128], askedAt: Long, now: Long): Unit =
    inDoubt.iterator.flatMap(_.resolve(askedAt, now)).foreach { part =>
      val (written, missing) = part.split(found)
      written.foreach { record =>
        counters.kinesisRecordsWritten(1, record.size.toLong)
        part.lane.acknowledged(RecordSum(1, record.size.toLong), now)
        acknowledged(record)
      }
      returnToLane(part, missing, Pauses, now)
    }

  /** A record that Kinesis wrote to another shard than predicted. */
  private def writtenElsewhere(
      record: PendingRecord,
      shard: ShardId,
      lane: Lane,
      sentAt: Long
  ): Unit = {
    refresh.markStale()
    if (record.isAggregate && lanes.keepsHashKeys)
      misplaced.add(record, shard, lane, sentAt)
    else acknowledged(record)
  }

  private def acknowledged(record: PendingRecord): Unit =
    counters.recordsWritten(record.userRecords.toLong, record.bufferedBytes)

  /** @throws KinesisException of the same class, if a retry cannot succeed */
  def failed(request: Request, e: KinesisException, now: Long): Unit = {
    counters.requestFailed(request.records.length, e)
    if (!isRetryable(request, e, now)) throw explained(request, e)
    request.parts.foreach { part =>
      val records = request.records.slice(part.from, part.until).toVector
      val isUnknown = !isRefusal(e)
      records.foreach(_.failed(request.sentAt, e.getMessage, Some(e), isUnknown))
      val failed =
        FailedPart(part.lane, records, _ => isUnknown, isProgress = false, request.sentAt)
      retry(failed, Pauses, now)
    }
  }

  private def explained(request: Request, e: KinesisException): KinesisException = e match {
    case _: KinesisException.TooLarge if request.records.head.isAggregate =>
      val remedy =
        s"The aggregated record has ${request.bytes} bytes: decrease 'maxAggregateBytes'."
      new KinesisException.TooLarge(s"${e.getMessage.stripSuffix(".")}. $remedy", e)
    case _ => e
  }

  /** Whether the service has refused the request as a whole, so that it had no effect. */
  private def isRefusal(e: KinesisException): Boolean = e match {
    case lost: KinesisException.Unreachable => !lost.mayHaveArrived
    case _: KinesisException.ServiceFailure => false
    case _ => true
  }

  /** Credentials may still be replaced by new ones. A large request becomes several. */
  private def isRetryable(request: Request, e: KinesisException, now: Long): Boolean = e match {
    case _: KinesisException.TooLarge => request.records.length > 1
    case _: KinesisException.CredentialsExpired | _: KinesisException.BadCredentials
        if e.isRetryable =>
      val since = expiredSince.getOrElse(now)
      expiredSince = Some(since)
      now - since < Retry.RenewalTime.toMillis
    case _ => e.isRetryable
  }

  /** @param failed those records of the part that are not written */
  private def returnToLane(
      part: FailedPart,
      failed: Vector[PendingRecord],
      pauses: Backoff,
      now: Long
  ): Unit = {
    counters.add(SinkCounter.RetriedRecords, failed.size.toLong)
    val isOpen = lanes.contains(part.lane)
    val staying =
      if (pauses ne RefusalPauses) failed else failed.filterNot(lanes.moves(_, part.lane, now))
    val pause = (failures: Int) => pauses.delay(failures, chance()).toMillis
    part.lane.requestEnded(
      if (isOpen) staying else Nil,
      failed.nonEmpty,
      part.isProgress,
      part.sentAt,
      now,
      pause
    )
    if (!isOpen && lanes.isOrdered) lanes.addFirst(staying, now)
    else if (!isOpen) staying.foreach(lanes.addAgain)
  }

  /** Whether aggregates wait until their shard is listed. */
  def hasMisplaced: Boolean = misplaced.nonEmpty

  /** The one of them that was sent first, with its shard. */
  def oldestMisplaced: Option[(ShardId, Failures)] = misplaced.oldest

  /** The lanes of the stream changed. */
  def lanesChanged(now: Long): Unit = {
    misplaced.moveHolds(lanes.lanesOf)
    inDoubt.foreach(_.moveHolds(lanes))
    resolveMisplaced(now)
  }

  private def resolveMisplaced(now: Long): Unit = if (misplaced.nonEmpty) {
    val (valid, invalid) = misplaced.resolve(lanes.shards)
    valid.foreach(acknowledged)
    counters.add(SinkCounter.MisplacedAggregates, invalid.size.toLong)
    lanes.addFirst(invalid, now)
    if (misplaced.nonEmpty) refresh.markStale()
  }

  /** Kinesis does not document such codes for single records, but emulators return them. */
  private def requireRetryable(result: PutResult): Unit = result match {
    case PutResult.Failed(code, message) if ErrorCodes.isPermanent(code) =>
      val text = s"PutRecords for stream $stream rejected a record: $message ($code)."
      ErrorCodes.exception(code).foreach(make => throw make(text, null))
    case _ => ()
  }

  private def incomplete(results: Int, request: Request) = new KinesisException.ServiceFailure(
    s"PutRecords for stream $stream returned $results results " +
      s"for ${request.records.length} records."
  )
}

private object PutAnswers {
  private val Pauses = Backoff(base = 100.millis, cap = 5.seconds)

  /**
   * Short, because the rate of the shard decreases, too: a shard that counts in seconds takes
   * records again after at most one.
   */
  private val RefusalPauses = Backoff(base = 100.millis, cap = 400.millis)
}

/**
 * When to list the shards of a stream again: after an answer names another shard than predicted.
 * Pauses between listings, because a listing may lag behind a reshard and an answer may be wrong.
 *
 * @param chance evenly distributed in `[0, 1)`
 */
private[sink] final class ShardRefresh(chance: () => Double) {
  private var isStale = false
  private var notBefore = 0L
  private var listingsInVain = 0

  /** The known shards seem to be out of date. */
  def markStale(): Unit = isStale = true

  def isDue(now: Long): Boolean = isStale && now >= notBefore

  /** A listing showed other shards. */
  def changed(now: Long): Unit = {
    isStale = false
    listingsInVain = 0
    pause(now)
  }

  /**
   * A listing showed the same shards, or failed.
   *
   * @param isRepeated whether to list again after a pause
   */
  def unchanged(isRepeated: Boolean, now: Long): Unit = {
    isStale = isRepeated
    listingsInVain += 1
    pause(now)
  }

  private def pause(now: Long): Unit =
    notBefore = now + ShardRefresh.Pauses.delay(listingsInVain + 1, chance()).toMillis
}

private object ShardRefresh {
  private val Pauses = Backoff(base = 500.millis, cap = 30.seconds)
}
