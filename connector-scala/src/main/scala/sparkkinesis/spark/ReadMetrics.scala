package sparkkinesis.spark

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

/** What the SQL page of Spark's UI shows of a read. */
private[spark] object ReadMetrics {
  def all: Array[CustomMetric] = Array(new RereadRanges)

  def values(rereadRanges: Long): Array[CustomTaskMetric] =
    Array(TaskCount("rereadRanges", rereadRanges))
}

final class RereadRanges extends SumMetric("rereadRanges", "ranges read again from Kinesis")
