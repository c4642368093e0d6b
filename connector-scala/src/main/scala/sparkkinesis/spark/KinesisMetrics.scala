package sparkkinesis.spark

import org.apache.spark.sql.connector.metric.{CustomSumMetric, CustomTaskMetric}

/** What a task tells the SQL tab of Spark's UI. */
object KinesisMetrics {

  final class RereadRangesMetric extends CustomSumMetric {
    override def name: String = RereadRanges.name
    override def description: String = "ranges read again from Kinesis"
  }

  object RereadRanges {
    val name = "rereadRanges"

    def of(count: Long): CustomTaskMetric = new CustomTaskMetric {
      override def name: String = RereadRanges.name
      override def value: Long = count
    }
  }
}
