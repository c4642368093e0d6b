package sparkkinesis.spark

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

import sparkkinesis.sink.SinkMetrics

/** What the SQL page of Spark's UI shows of a write. */
private[spark] object WriteMetrics {
  def all: Array[CustomMetric] = Array(
    new WrittenRecords,
    new WrittenBytes,
    new PutRequests,
    new RetriedRecords,
    new ThrottledRecords,
    new DeadLetters
  )

  /** @param deadLetters bad rows that are kept in files */
  def values(metrics: SinkMetrics, deadLetters: Long): Array[CustomTaskMetric] = Array(
    TaskCount("kinesisRecords", metrics.records),
    TaskCount("kinesisBytes", metrics.bytes),
    TaskCount("kinesisRequests", metrics.requests),
    TaskCount("kinesisRetriedRecords", metrics.retried),
    TaskCount("kinesisThrottledRecords", metrics.throttled),
    TaskCount("kinesisDeadLetters", deadLetters)
  )
}

final class WrittenRecords extends SumMetric("kinesisRecords", "records Kinesis acknowledged")

final class WrittenBytes extends SumMetric("kinesisBytes", "bytes Kinesis acknowledged")

final class PutRequests extends SumMetric("kinesisRequests", "PutRecords requests")

final class RetriedRecords extends SumMetric("kinesisRetriedRecords", "records sent again")

final class ThrottledRecords
    extends SumMetric("kinesisThrottledRecords", "records refused for too much traffic")

final class DeadLetters extends SumMetric("kinesisDeadLetters", "bad rows kept as dead letters")
