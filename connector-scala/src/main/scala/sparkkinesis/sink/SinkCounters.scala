package sparkkinesis.sink

import sparkkinesis.client.KinesisException
import sparkkinesis.sink.lane.{PendingRecord, Request}
import sparkkinesis.sink.write.RequestTimes

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
  private var peakBuffered = 0L
  private var peakInFlight = 0
  private val times = new RequestTimes.Recorder

  def taken(held: Long): Unit = {
    buffered += held
    peakBuffered = math.max(peakBuffered, buffered)
    waiting += 1
  }

  def sent(entries: Int): Unit = {
    requests += 1
    inFlight += 1
    peakInFlight = math.max(peakInFlight, inFlight)
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

  def snapshot(sleep: Option[ShardSleep]): SinkMetrics = SinkMetrics(
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
    peakBuffered,
    peakInFlight.toLong,
    sleep,
    times.result
  )
}
