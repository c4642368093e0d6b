package sparkkinesis.spark.metrics

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

import sparkkinesis.sink.metrics.SinkCounter
import sparkkinesis.sink.metrics.SinkCounter._

/**
 * The metrics of a write, on the SQL page of Spark's UI and in a query's progress. To add one, add
 * a line.
 *
 * Spark knows the names `recordsWritten` and `bytesWritten`: it also shows them as the output of
 * stages and tasks.
 */
private[spark] object WriteMetrics {
  private type Metric = (CustomMetric, WriteCounts => Long)

  private val metrics = Seq[Metric](
    sum(RecordsWritten, "rows that Kinesis acknowledged"),
    sum(BytesWritten, "bytes of data and keys that Kinesis acknowledged"),
    sum(KinesisRecordsWritten, "Kinesis records that Kinesis acknowledged"),
    sum(KinesisBytesWritten, "bytes of Kinesis records that Kinesis acknowledged"),
    sum(Requests, "PutRecords requests"),
    sum(SentRecords, "Kinesis records sent, counted each time"),
    sum(RetriedRecords, "Kinesis records sent again"),
    sum(ThrottledRecords, "Kinesis records rejected by throttling"),
    sum(ReplacedKeys, "rows without a key that another shard took"),
    sum(FailedRecords, "Kinesis records that failed for another reason"),
    sum(FailedRequests, "requests that failed as a whole"),
    sum(UnansweredRequests, "requests without an answer"),
    sum(FallbackResponses, "requests that the AWS SDK encoded or decoded"),
    sum(MisplacedAggregates, "aggregates sent again after a reshard"),
    new SumMetric("deadLetters", "rows kept as dead letters") -> (_.deadLetters),
    max(PeakBufferedBytes, "maximum bytes buffered by a task"),
    max(PeakRequestsInFlight, "maximum requests in flight of a task"),
    new MaxMetric("maxShardWaitMs", "longest wait of a task for one shard, in milliseconds") ->
      (_.sink.sleepMillis),
    new MaxMetric("p99RequestMs", "99th percentile of a task's request times, in milliseconds") ->
      (_.sink.requestMillis99)
  )

  def all: Array[CustomMetric] = metrics.map(_._1).toArray

  def values(counts: WriteCounts): Array[CustomTaskMetric] = metrics.map { case (metric, value) =>
    TaskCount(metric.name, value(counts)): CustomTaskMetric
  }.toArray

  private def sum(counter: SinkCounter, description: String): Metric =
    new SumMetric(counter.name, description) -> (_.sink(counter))

  private def max(counter: SinkCounter, description: String): Metric =
    new MaxMetric(counter.name, description) -> (_.sink(counter))
}
