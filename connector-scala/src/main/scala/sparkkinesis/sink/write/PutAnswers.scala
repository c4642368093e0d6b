package sparkkinesis.sink.write

import scala.concurrent.duration._

import sparkkinesis.client.{Backoff, ErrorCodes, KinesisException, PutResult}
import sparkkinesis.model.{ShardId, StreamRef}
import sparkkinesis.sink.SinkCounters
import sparkkinesis.sink.lane._
import sparkkinesis.sink.rate.{ShardRate, ShardRefresh}

/**
 * What comes of a request's records: written, to be sent again, or written to a shard where they do
 * not belong.
 *
 * @param shardLook told when answers name other shards than was thought
 * @param chance evenly distributed in `[0, 1)`
 */
private[sink] final class PutAnswers(
    stream: StreamRef,
    lanes: LaneSet,
    shardLook: ShardRefresh,
    chance: () => Double,
    counters: SinkCounters
) {
  import PutAnswers._

  private val misplaced = new MisplacedAggregates
  private var expiredSince = Option.empty[Long]

  /** @throws KinesisException where a record was refused for good */
  def answered(request: Request, results: Seq[PutResult], now: Long): Unit =
    if (results.size != request.records.length)
      failed(request, incomplete(results.size, request), now)
    else {
      expiredSince = None
      val states = results.toIndexedSeq
      request.parts.foreach(answered(request, _, states, now))
      settle()
      states.foreach(requirePassing)
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
          val isThrottled = ErrorCodes.isThrottling(code)
          if (isThrottled) counters.throttled += 1 else counters.failed += 1
          outcome.addFailed(record, isThrottled)
          record.failed(request.sentAt, s"$message ($code)", None)
      }
      i += 1
    }
    val (written, refused) = (outcome.written, outcome.throttled)
    part.lane.rate.answered(outcome.sent, written, refused, part.isProbe, request.sentAt, now)
    giveBack(part.lane, outcome.again, written.records > 0, request.sentAt, now)
  }

  private def arrived(record: PendingRecord, shard: ShardId, lane: Lane, sentAt: Long): Unit = {
    val isElsewhere = lanes.isElsewhere(shard, lane)
    if (isElsewhere) shardLook.doubt()
    if (isElsewhere && record.isAggregate) misplaced.add(record, shard, lane, sentAt)
    else counters.written(record)
  }

  /** @throws KinesisException the same, where waiting does not mend it */
  def failed(request: Request, e: KinesisException, now: Long): Unit = {
    counters.failed(request, e)
    if (!isPassing(e, now)) throw e
    request.parts.foreach { part =>
      val records = abandon(request, part, now)
      records.foreach(_.failed(request.sentAt, e.getMessage, Some(e)))
      giveBack(part.lane, records, isProgress = false, request.sentAt, now)
    }
  }

  /** Nobody will hear of these. */
  def abandoned(request: Request, now: Long): Unit =
    request.parts.foreach(abandon(request, _, now))

  private def abandon(request: Request, part: Request.Part, now: Long): Vector[PendingRecord] = {
    val records = request.records.slice(part.from, part.until).toVector
    val sent = ShardRate.Sum(records.size, records.iterator.map(_.size.toLong).sum)
    part.lane.rate.unanswered(sent, part.isProbe, now)
    records
  }

  /** Other credentials may come in place of those that have expired. */
  private def isPassing(e: KinesisException, now: Long): Boolean = e match {
    case _: KinesisException.CredentialsExpired =>
      val since = expiredSince.getOrElse(now)
      expiredSince = Some(since)
      now - since < RenewalTime.toMillis
    case _ => e.isRetryable
  }

  private def giveBack(
      lane: Lane,
      again: Vector[PendingRecord],
      isProgress: Boolean,
      sentAt: Long,
      now: Long
  ): Unit = {
    counters.retried += again.size
    val isCurrent = lanes.contains(lane)
    lane.returned(if (isCurrent) again else Nil, isProgress, sentAt, now, pause(_))
    if (!isCurrent) again.foreach(lanes.addAgain)
  }

  private def pause(failures: Int): Long = Backoffs.delay(failures, chance()).toMillis

  /** Whether aggregates wait until their shard is known. */
  def areAwaited: Boolean = misplaced.nonEmpty

  /** The first that was sent of those, and its shard. */
  def oldestMisplaced: Option[(ShardId, Trouble)] = misplaced.oldest

  def lanesChanged(): Unit = {
    misplaced.move(lanes.of)
    settle()
  }

  private def settle(): Unit = if (misplaced.nonEmpty) {
    val (good, bad) = misplaced.judge(lanes.shards)
    good.foreach(counters.written)
    counters.misplaced += bad.size
    lanes.addFirst(bad)
    if (misplaced.nonEmpty) shardLook.doubt()
  }

  /** The service documents no such codes for single records; emulators have them. */
  private def requirePassing(result: PutResult): Unit = result match {
    case PutResult.Failed(code, message) if ErrorCodes.isPermanent(code) =>
      val said = s"PutRecords of stream $stream refused a record: $message ($code)."
      ErrorCodes.maker(code).foreach(make => throw make(said, null))
    case _ => ()
  }

  private def incomplete(results: Int, request: Request) = new KinesisException.ServiceFailure(
    s"PutRecords of stream $stream answered $results results " +
      s"for ${request.records.length} records."
  )
}

private object PutAnswers {
  private val RenewalTime = 30.seconds
  private val Backoffs = Backoff(base = 100.millis, cap = 5.seconds)
}
