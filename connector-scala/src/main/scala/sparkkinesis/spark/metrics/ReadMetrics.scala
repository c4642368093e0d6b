package sparkkinesis.spark.metrics

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}

/** What the SQL page of Spark's UI shows of a read. */
private[spark] object ReadMetrics {
  def all: Array[CustomMetric] =
    Array(new ReadRecords, new ReadBytes, new RereadRanges, new LostRanges)

  def values(
      records: Long,
      bytes: Long,
      rereadRanges: Long,
      lostRanges: Long
  ): Array[CustomTaskMetric] = Array(
    TaskCount("readRecords", records),
    TaskCount("readBytes", bytes),
    TaskCount("rereadRanges", rereadRanges),
    TaskCount("lostRanges", lostRanges)
  )
}

final class ReadRecords extends SumMetric("readRecords", "records of Kinesis")

final class ReadBytes extends SumMetric("readBytes", "bytes of their data")

final class LostRanges
    extends SumMetric("lostRanges", "ranges found incomplete, counted at each attempt")

final class RereadRanges extends SumMetric("rereadRanges", "ranges read again from Kinesis")
