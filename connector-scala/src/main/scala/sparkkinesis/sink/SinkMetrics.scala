package sparkkinesis.sink

import sparkkinesis.client.KinesisException

/**
 * What a writer has done so far. "Records" are the caller's but where Kinesis' are named: an
 * aggregate is one of those.
 *
 * @param records acknowledged
 * @param bytes of those, partition keys included
 * @param requests sent
 * @param entries Kinesis records in them, those sent again counted each time
 * @param retried Kinesis records sent again, each time counted
 * @param throttled Kinesis records refused for too much traffic, each time counted
 * @param failed Kinesis records that the service failed to write for another reason
 * @param failedRequests that failed as a whole
 * @param unanswered of those, without an answer: they may have taken effect
 * @param misplaced aggregates that landed in a shard where KCL drops them, and were sent anew
 * @param buffered bytes that are not acknowledged
 * @param inFlight requests
 * @param sleepMillis that records waited for their shard, of the shard with the longest wait
 * @param requestMillis99 of a hundred requests, 99 took at most that long; 0 before the first
 */
final case class SinkMetrics(
    records: Long,
    bytes: Long,
    requests: Long,
    entries: Long,
    retried: Long,
    throttled: Long,
    failed: Long,
    failedRequests: Long,
    unanswered: Long,
    misplaced: Long,
    buffered: Long,
    inFlight: Long,
    sleepMillis: Long,
    requestMillis99: Long
)

/** A writer's counts, guarded by the writer's lock. */
private[sink] final class SinkCounters {
  var records = 0L
  var bytes = 0L
  var requests = 0L
  var entries = 0L
  var retried = 0L
  var throttled = 0L
  var failed = 0L
  var failedRequests = 0L
  var unanswered = 0L
  var misplaced = 0L
  var inFlight = 0

  /** Bytes and records that are not acknowledged. */
  var buffered = 0L
  var waiting = 0L
  val times = new RequestTimes

  def taken(held: Long): Unit = {
    buffered += held
    waiting += 1
  }

  def sent(entries: Int): Unit = {
    requests += 1
    inFlight += 1
    this.entries += entries
  }

  def finished(millis: Long): Unit = {
    inFlight -= 1
    times.add(millis)
  }

  def failed(request: Request, e: KinesisException): Unit = {
    failedRequests += 1
    e match {
      case _: KinesisException.Throttled | _: KinesisException.LimitExceeded =>
        throttled += request.records.length
      case _: KinesisException.Unreachable => unanswered += 1
      case _ => ()
    }
  }

  def written(record: PendingRecord): Unit = {
    records += record.users
    bytes += record.held
    buffered -= record.held
    waiting -= record.users
  }

  def snapshot(sleepMillis: Long): SinkMetrics = SinkMetrics(
    records,
    bytes,
    requests,
    entries,
    retried,
    throttled,
    failed,
    failedRequests,
    unanswered,
    misplaced,
    buffered,
    inFlight.toLong,
    sleepMillis,
    times.percentile(0.99)
  )
}

/** How long requests took: to the millisecond up to 16, from there to a sixteenth. */
private[sink] final class RequestTimes {
  import RequestTimes._

  private val counts = new Array[Long](Slots)
  private var total = 0L

  def add(millis: Long): Unit = {
    counts(slot(math.max(0L, millis))) += 1
    total += 1
  }

  /** The least time within which so many of all were answered, rounded up; 0 where there is none. */
  def percentile(part: Double): Long =
    if (total == 0) 0
    else {
      val wanted = math.ceil(total * part).toLong
      val sums = counts.iterator.scanLeft(0L)(_ + _).drop(1)
      upper(sums.indexWhere(_ >= wanted))
    }
}

private object RequestTimes {
  private val Fine = 16
  private val FineBits = 4
  private val Slots = 512

  private def slot(millis: Long): Int =
    if (millis < Fine) millis.toInt
    else {
      val shift = 63 - java.lang.Long.numberOfLeadingZeros(millis) - FineBits
      math.min(Slots - 1L, Fine.toLong * shift + (millis >> shift)).toInt
    }

  /** The longest time of a slot. */
  private def upper(slot: Int): Long =
    if (slot < Fine) slot.toLong
    else {
      val shift = slot / Fine - 1
      ((slot % Fine + Fine + 1L) << shift) - 1
    }
}
