package sparkkinesis.sink.metrics

import sparkkinesis.client.KinesisException
import sparkkinesis.shard.Durations
import sparkkinesis.sink.metrics.SinkCounter._

/** What one writer counts, and what it holds in memory. The writer's lock guards it. */
private[sink] final class SinkCounters {
  private val counts = new Array[Long](SinkCounter.all.size)
  private val times = new Array[Long](Durations.Buckets)
  private var bytes = 0L
  private var records = 0L
  private var requests = 0

  /** Bytes of records that are not acknowledged. */
  def bufferedBytes: Long = bytes

  /** Records of the caller that are not acknowledged. */
  def bufferedRecords: Long = records

  /** Requests that are not answered. */
  def inFlight: Int = requests

  def apply(counter: SinkCounter): Long = counts(counter.index)

  def add(counter: SinkCounter, count: Long): Unit =
    counts(counter.index) = counter.merge(counts(counter.index), count)

  /** The caller put a record. */
  def recordPut(size: Long): Unit = {
    bytes += size
    records += 1
    add(PeakBufferedBytes, bytes)
  }

  def requestSent(records: Int): Unit = {
    requests += 1
    add(Requests, 1)
    add(SentRecords, records.toLong)
    add(PeakRequestsInFlight, requests.toLong)
  }

  /** A request was answered, or failed, after so many milliseconds. */
  def requestEnded(millis: Long): Unit = {
    requests -= 1
    times(Durations.bucketOf(millis)) += 1
  }

  /** A request of so many records failed as a whole. */
  def requestFailed(records: Int, e: KinesisException): Unit = {
    add(FailedRequests, 1)
    e match {
      case _ if e.isThrottling => add(ThrottledRecords, records.toLong)
      case lost: KinesisException.Unreachable if lost.mayHaveArrived => add(UnansweredRequests, 1)
      case _ => ()
    }
  }

  /** Kinesis acknowledged so many records of the caller. */
  def recordsWritten(count: Long, size: Long): Unit = {
    bytes -= size
    records -= count
    add(RecordsWritten, count)
    add(BytesWritten, size)
  }

  /** Kinesis acknowledged so many Kinesis records. */
  def kinesisRecordsWritten(count: Long, size: Long): Unit = {
    add(KinesisRecordsWritten, count)
    add(KinesisBytesWritten, size)
  }

  /** The writer gave up so many records of the caller. */
  def recordsExpired(count: Int, size: Long): Unit = {
    bytes -= size
    records -= count
  }

  /** The writer is closed: requests in flight may take effect, but nothing waits for them. */
  def close(): Unit = {
    add(FailedRequests, requests.toLong)
    add(UnansweredRequests, requests.toLong)
    requests = 0
    bytes = 0
    records = 0
  }

  /** One value per counter, in the order of [[SinkCounter.all]]. */
  def values: Vector[Long] = counts.toVector

  def snapshot(shards: Vector[ShardTraffic]): SinkMetrics =
    SinkMetrics(values, shards, Durations.of(times(_)))
}
