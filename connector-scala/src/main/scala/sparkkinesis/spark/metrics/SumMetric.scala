package sparkkinesis.spark.metrics

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/**
 * A number that the SQL page of Spark's UI adds up over tasks.
 *
 * To aggregate values, Spark creates a metric from its class name alone, so each class of metrics
 * also has a constructor without arguments.
 */
private[sparkkinesis] final class SumMetric(
    override val name: String,
    override val description: String
) extends CustomSumMetric {
  def this() = this("", "")
}

/** A number of which the SQL page of Spark's UI shows the maximum over tasks. */
private[sparkkinesis] final class MaxMetric(
    override val name: String,
    override val description: String
) extends CustomMetric {
  def this() = this("", "")

  override def aggregateTaskMetrics(values: Array[Long]): String =
    values.foldLeft(0L)(math.max).toString
}

/** The value of one metric in one task. */
private[spark] final case class TaskCount(name: String, value: Long) extends CustomTaskMetric
