package sparkkinesis.spark.metrics

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

/**
 * Counts of one task that reads.
 *
 * @param records Kinesis records
 * @param bytes of their data
 * @param rereadRanges ranges read from Kinesis again, because the executor did not hold their pages
 * @param lostRanges ranges with missing records
 */
private[spark] final case class ReadCounts(
    records: Long,
    bytes: Long,
    rereadRanges: Long,
    lostRanges: Long
)

/** The metrics of a read on the SQL page of Spark's UI. To add one, add a line. */
private[spark] object ReadMetrics {
  private val metrics = Seq[(CustomMetric, ReadCounts => Long)](
    new SumMetric("readRecords", "Kinesis records read") -> (_.records),
    new SumMetric("readBytes", "bytes of data read") -> (_.bytes),
    new SumMetric("rereadRanges", "ranges read again from Kinesis") -> (_.rereadRanges),
    new SumMetric("lostRanges", "ranges with missing records, per attempt") -> (_.lostRanges)
  )

  def all: Array[CustomMetric] = metrics.map(_._1).toArray

  def values(counts: ReadCounts): Array[CustomTaskMetric] = metrics.map { case (metric, value) =>
    TaskCount(metric.name, value(counts)): CustomTaskMetric
  }.toArray
}
