package sparkkinesis.spark.metrics

import java.util.Locale

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
    new MeanMetric("recordsPerRequest", "mean number of Kinesis records per request") ->
      (counts => MeanMetric.pack(counts.sink(SentRecords), counts.sink(Requests))),
    sum(RetriedRecords, "Kinesis records sent again"),
    sum(ThrottledRecords, "Kinesis records rejected by throttling"),
    sum(FailedRecords, "Kinesis records that failed for another reason"),
    sum(FailedRequests, "requests that failed as a whole"),
    sum(UnansweredRequests, "requests without an answer"),
    sum(MisplacedAggregates, "aggregates sent again after a reshard"),
    new SumMetric("deadLetters", "rows kept as dead letters") -> (_.deadLetters),
    max(PeakBufferedBytes, "maximum bytes buffered by a task"),
    max(PeakRequestsInFlight, "maximum requests in flight of a task"),
    new MaxMetric("maxShardWaitMs", "longest wait of a task for one shard, in milliseconds") ->
      (_.sink.sleepMillis),
    new MaxMetric(
      "peakShardRecordsPerSecond",
      "average rate of the busiest shard of a task, in Kinesis records per second"
    ) ->
      (_.sink.peakShardRecordsPerSecond),
    new MaxMetric(
      "peakShardBytesPerSecond",
      "average rate of the busiest shard of a task, in bytes per second"
    ) ->
      (_.sink.peakShardBytesPerSecond),
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

/**
 * The mean over everything that the tasks counted; a task that counted more weighs more. Spark
 * passes one number per task, so that number holds both sum and count: see [[MeanMetric.pack]].
 */
final class MeanMetric(override val name: String, override val description: String)
    extends CustomMetric {
  import MeanMetric._

  def this() = this("", "")

  override def aggregateTaskMetrics(values: Array[Long]): String = {
    val (sum, count) = (values.map(sumOf).sum, values.map(countOf).sum)
    val mean = if (count == 0) 0.0 else sum.toDouble / count
    String.format(Locale.ROOT, "%.1f", Double.box(mean))
  }
}

private[spark] object MeanMetric {
  private val CountBits = 24

  /**
   * Sum and count in one number.
   *
   * @param sum not negative, at most 500 times the count
   * @param count not negative; from 2 to the power of 24, sum and count lose low bits
   */
  def pack(sum: Long, count: Long): Long = {
    val tooMany = math.max(0, 64 - java.lang.Long.numberOfLeadingZeros(count) - CountBits)
    ((sum >> tooMany) << CountBits) | (count >> tooMany)
  }

  private def sumOf(packed: Long): Long = packed >> CountBits
  private def countOf(packed: Long): Long = packed & ((1L << CountBits) - 1)
}
