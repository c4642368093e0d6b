package sparkkinesis.spark

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

/** What the SQL page of Spark's UI shows of a read. */
private[spark] object ReadMetrics {
  def all: Array[CustomMetric] = Array(new RereadRanges, new LostRanges)

  def values(rereadRanges: Long, lostRanges: Long): Array[CustomTaskMetric] =
    Array(TaskCount("rereadRanges", rereadRanges), TaskCount("lostRanges", lostRanges))
}

final class LostRanges
    extends SumMetric("lostRanges", "ranges found incomplete, counted at each attempt")

final class RereadRanges extends SumMetric("rereadRanges", "ranges read again from Kinesis")
