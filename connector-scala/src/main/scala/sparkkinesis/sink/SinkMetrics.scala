package sparkkinesis.sink

import sparkkinesis.sink.write.RequestTimes

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
 * @param peakBuffered the most there ever was
 * @param peakInFlight the most there ever were
 * @param sleep of the shard that records waited for longest; none where none did
 * @param requestTimes of requests that were answered, or failed
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
    peakBuffered: Long,
    peakInFlight: Long,
    sleep: Option[ShardSleep],
    requestTimes: RequestTimes
) {

  /** How many Kinesis records a request had, on average; 0 before the first. */
  def recordsPerRequest: Double = if (requests == 0) 0 else entries.toDouble / requests

  def sleepMillis: Long = sleep.fold(0L)(_.millis)

  /** Of a hundred requests, 99 took at most that long; 0 before the first. */
  def requestMillis99: Long = requestTimes.percentile(0.99)

  /**
   * Once the writer is closed: what was in flight may have taken effect, and nobody waits for the
   * answer any more.
   */
  def closed: SinkMetrics = copy(
    failedRequests = failedRequests + inFlight,
    unanswered = unanswered + inFlight,
    buffered = 0,
    inFlight = 0
  )

  /** Of two writers: sums, but the greater of peaks and of sleeps. */
  def +(other: SinkMetrics): SinkMetrics = SinkMetrics(
    records + other.records,
    bytes + other.bytes,
    requests + other.requests,
    entries + other.entries,
    retried + other.retried,
    throttled + other.throttled,
    failed + other.failed,
    failedRequests + other.failedRequests,
    unanswered + other.unanswered,
    misplaced + other.misplaced,
    buffered + other.buffered,
    inFlight + other.inFlight,
    math.max(peakBuffered, other.peakBuffered),
    math.max(peakInFlight, other.peakInFlight),
    ShardSleep.longest(sleep ++ other.sleep),
    requestTimes + other.requestTimes
  )
}

object SinkMetrics {
  val Zero: SinkMetrics = SinkMetrics(
    records = 0,
    bytes = 0,
    requests = 0,
    entries = 0,
    retried = 0,
    throttled = 0,
    failed = 0,
    failedRequests = 0,
    unanswered = 0,
    misplaced = 0,
    buffered = 0,
    inFlight = 0,
    peakBuffered = 0,
    peakInFlight = 0,
    sleep = None,
    RequestTimes.None
  )
}

/**
 * How long records of one writer were ready and a shard was not.
 *
 * @param stream as the writer was told it
 */
final case class ShardSleep(stream: String, shard: String, millis: Long)

object ShardSleep {
  private[sink] def longest(all: Iterable[ShardSleep]): Option[ShardSleep] =
    all.filter(_.millis > 0).reduceOption((a, b) => if (b.millis > a.millis) b else a)
}
