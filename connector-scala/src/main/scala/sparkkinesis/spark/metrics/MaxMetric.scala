package sparkkinesis.spark.metrics

import org.apache.spark.sql.connector.metric.CustomMetric

/** Of all tasks' numbers the SQL page of Spark's UI shows the greatest: see [[SumMetric]]. */
abstract class MaxMetric(override val name: String, override val description: String)
    extends CustomMetric {
  override def aggregateTaskMetrics(values: Array[Long]): String =
    values.foldLeft(0L)(math.max).toString
}
