package sparkkinesis.spark.metrics

import java.util.Locale

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

import sparkkinesis.sink.metrics.SinkCounter._
import sparkkinesis.sink.metrics.{ShardTraffic, SinkCounter, SinkMetrics}

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
    max(LongestPermissionWait, "longest wait of a task for the driver, in milliseconds"),
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

/**
 * Counts of a write, of one task or of several.
 *
 * @param deadLetters bad rows that are kept in files
 */
private[spark] final case class WriteCounts(sink: SinkMetrics, deadLetters: Long) {
  def +(other: WriteCounts): WriteCounts =
    WriteCounts(sink + other.sink, deadLetters + other.deadLetters)
}

private[spark] object WriteCounts {
  val Zero: WriteCounts = WriteCounts(SinkMetrics.Zero, 0)

  def sum(all: Iterable[WriteCounts]): WriteCounts = all.foldLeft(Zero)(_ + _)
}

/** The metrics of the sink in a query's progress. See `docs/reference/metrics.md`. */
private[spark] object SinkProgress {

  /** @param counts of all attempts at the tasks of one batch */
  def of(counts: WriteCounts): Map[String, String] = {
    val numbers = WriteMetrics.values(counts).map(it => it.name -> it.value.toString).toMap
    val sink = counts.sink
    val slowest = sink.longestSleep.map("slowestShard" -> name(_))
    val hottest = sink.hottestShard.toSeq.flatMap { it =>
      Seq("hottestShard" -> name(it), "hottestShardShare" -> decimal("%.3f", sink.shareOf(it)))
    }
    numbers ++ slowest ++ hottest + ("recordsPerRequest" -> decimal("%.1f", sink.recordsPerRequest))
  }

  private def name(shard: ShardTraffic) = s"${shard.stream}/${shard.shard}"

  private def decimal(format: String, value: Double) =
    String.format(Locale.ROOT, format, Double.box(value))
}
