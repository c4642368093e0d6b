package sparkkinesis.spark.metrics

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

import sparkkinesis.sink.metrics.SinkCounter

/**
 * What the SQL page of Spark's UI shows of a write. `recordsWritten` and `bytesWritten` are names
 * that Spark knows: it shows them also as the output of stages and tasks.
 */
private[spark] object WriteMetrics {
  def all: Array[CustomMetric] = Array(
    new WrittenRecords,
    new WrittenBytes,
    new PutRequests,
    new SentRecords,
    new RecordsPerRequest,
    new RetriedRecords,
    new ThrottledRecords,
    new FailedRecords,
    new FailedRequests,
    new UnansweredRequests,
    new MisplacedAggregates,
    new DeadLetters,
    new PeakBufferedBytes,
    new PeakRequestsInFlight,
    new MaxShardSleep,
    new SlowRequests
  )

  def values(counts: WriteCounts): Array[CustomTaskMetric] = {
    val (sent, requests) = (counts.sink(SinkCounter.SentRecords), counts.sink(SinkCounter.Requests))
    val mean = MeanMetric.pack(sent, requests)
    val numbers = SinkProgress.numbers(counts) + ("recordsPerRequest" -> mean)
    numbers.map { case (name, value) => TaskCount(name, value) }.toArray
  }
}

final class WrittenRecords extends SumMetric("recordsWritten", "records Kinesis acknowledged")

final class WrittenBytes
    extends SumMetric("bytesWritten", "bytes of data and keys Kinesis acknowledged")

final class PutRequests extends SumMetric("requests", "PutRecords requests")

final class SentRecords
    extends SumMetric("sentRecords", "Kinesis records in requests, each time they were sent")

final class RecordsPerRequest
    extends MeanMetric("recordsPerRequest", "Kinesis records a request, on average")

final class RetriedRecords extends SumMetric("retriedRecords", "Kinesis records sent again")

final class ThrottledRecords
    extends SumMetric("throttledRecords", "Kinesis records refused for too much traffic")

final class FailedRecords
    extends SumMetric("failedRecords", "Kinesis records that failed for another reason")

final class FailedRequests extends SumMetric("failedRequests", "requests that failed as a whole")

final class UnansweredRequests
    extends SumMetric("unansweredRequests", "requests without an answer, perhaps written")

final class MisplacedAggregates
    extends SumMetric("misplacedAggregates", "aggregates in a wrong shard, sent anew")

final class DeadLetters extends SumMetric("deadLetters", "bad rows kept as dead letters")

final class PeakBufferedBytes
    extends MaxMetric("peakBufferedBytes", "bytes a task had in memory at most")

final class PeakRequestsInFlight
    extends MaxMetric("peakRequestsInFlight", "requests a task had in flight at most")

final class MaxShardSleep
    extends MaxMetric(
      "maxShardSleepMs",
      "milliseconds a task's records waited for one shard at most"
    )

final class SlowRequests
    extends MaxMetric(
      "p99RequestMs",
      "milliseconds within which 99 % of a task's requests end, at most"
    )
