package sparkkinesis.spark.metrics

import org.apache.spark.sql.connector.metric.{CustomSumMetric, CustomTaskMetric}

/**
 * A number that the SQL page of Spark's UI adds up over tasks. Spark makes its classes by name, so each
 * needs a constructor without arguments.
 */
abstract class SumMetric(override val name: String, override val description: String)
    extends CustomSumMetric

/** What one task counted of the metric of that name. */
private[spark] final case class TaskCount(name: String, value: Long) extends CustomTaskMetric
