package sparkkinesis.sink.metrics

import scala.collection.mutable

/**
 * A number that every writer counts. To add one, define it here and count it with
 * [[SinkCounters.add]]; sums, task reports and query progress follow from [[SinkCounter.all]].
 *
 * "Record" means a Kinesis record, except in `RecordsWritten`, which counts the caller's records:
 * an aggregated record counts there as all the user records in it.
 *
 * @param name in the progress of a query and in the Spark UI
 * @param index of its value in [[SinkMetrics.counts]]
 */
private[sparkkinesis] final class SinkCounter private (
    val name: String,
    private[metrics] val index: Int,
    private[metrics] val merge: (Long, Long) => Long
) {
  override def toString: String = name
}

private[sparkkinesis] object SinkCounter {
  private val defined = mutable.ArrayBuffer.empty[SinkCounter]

  /** Records of the caller that Kinesis acknowledged. */
  val RecordsWritten: SinkCounter = sum("recordsWritten")

  /** Bytes of those records: data and partition keys. */
  val BytesWritten: SinkCounter = sum("bytesWritten")

  /** Kinesis records that Kinesis acknowledged, as CloudWatch counts them. */
  val KinesisRecordsWritten: SinkCounter = sum("kinesisRecordsWritten")

  /** Bytes of those: data and partition keys. */
  val KinesisBytesWritten: SinkCounter = sum("kinesisBytesWritten")

  /** `PutRecords` requests. */
  val Requests: SinkCounter = sum("requests")

  /** Records in all requests. A record that is sent twice counts twice. */
  val SentRecords: SinkCounter = sum("sentRecords")

  /** Records that were sent again, counted each time. */
  val RetriedRecords: SinkCounter = sum("retriedRecords")

  /** Records that Kinesis rejected because of too much traffic, counted each time. */
  val ThrottledRecords: SinkCounter = sum("throttledRecords")

  /** Rows without a key that got another random key, because their shard was behind. */
  val ReplacedKeys: SinkCounter = sum("replacedKeys")

  /** Records that Kinesis could not write for another reason, counted each time. */
  val FailedRecords: SinkCounter = sum("failedRecords")

  /** Requests that failed as a whole. */
  val FailedRequests: SinkCounter = sum("failedRequests")

  /** Failed requests without an answer: their records may have been written. */
  val UnansweredRequests: SinkCounter = sum("unansweredRequests")

  /** Aggregates that landed in a shard where KCL drops them, and were sent again. */
  val MisplacedAggregates: SinkCounter = sum("misplacedAggregates")

  /** Requests or responses that a library encoded or decoded, because our code could not. */
  val FallbackResponses: SinkCounter = sum("fallbackResponses")

  /** The largest number of bytes that were not acknowledged at one time. */
  val PeakBufferedBytes: SinkCounter = peak("peakBufferedBytes")

  /** The largest number of requests that were in flight at one time. */
  val PeakRequestsInFlight: SinkCounter = peak("peakRequestsInFlight")

  /** The longest time that a task could not send because the driver did not renew its right. */
  val LongestPermissionWait: SinkCounter = peak("maxPermissionWaitMs")

  /** Every counter, by index. */
  val all: Vector[SinkCounter] = defined.toVector

  private def sum(name: String): SinkCounter = define(name, _ + _)

  private def peak(name: String): SinkCounter = define(name, (a, b) => math.max(a, b))

  private def define(name: String, merge: (Long, Long) => Long): SinkCounter = {
    val counter = new SinkCounter(name, defined.size, merge)
    defined += counter
    counter
  }
}
