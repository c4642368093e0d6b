package sparkkinesis.spark

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

import sparkkinesis.sink.SinkMetrics

/** What the SQL page of Spark's UI shows of a write. Spark makes these classes by name. */
private[spark] object WriteMetrics {
  def all: Array[CustomMetric] = Array(
    new WrittenRecords,
    new WrittenBytes,
    new PutRequests,
    new RetriedRecords,
    new ThrottledRecords
  )

  def values(metrics: SinkMetrics): Array[CustomTaskMetric] = Array(
    Value("kinesisRecords", metrics.records),
    Value("kinesisBytes", metrics.bytes),
    Value("kinesisRequests", metrics.requests),
    Value("kinesisRetriedRecords", metrics.retried),
    Value("kinesisThrottledRecords", metrics.throttled)
  )

  private final case class Value(name: String, value: Long) extends CustomTaskMetric
}

final class WrittenRecords extends CustomSumMetric {
  override def name(): String = "kinesisRecords"
  override def description(): String = "records Kinesis acknowledged"
}

final class WrittenBytes extends CustomSumMetric {
  override def name(): String = "kinesisBytes"
  override def description(): String = "bytes Kinesis acknowledged"
}

final class PutRequests extends CustomSumMetric {
  override def name(): String = "kinesisRequests"
  override def description(): String = "PutRecords requests"
}

final class RetriedRecords extends CustomSumMetric {
  override def name(): String = "kinesisRetriedRecords"
  override def description(): String = "records sent again"
}

final class ThrottledRecords extends CustomSumMetric {
  override def name(): String = "kinesisThrottledRecords"
  override def description(): String = "records refused for too much traffic"
}
