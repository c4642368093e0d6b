package sparkkinesis.spark.compat

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.write.{DataWriter, Write}
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}

/** Spark 4 calls `writeAll`. The other Scala version has the shim for Spark 3.5. */
private[sparkkinesis] trait DataWriterShim[T] extends DataWriter[T]

/** Spark 4 calls `reportDriverMetrics`. The other Scala version has the shim for Spark 3.5. */
private[sparkkinesis] trait WriteShim extends Write

/** Spark 4 shows a rule the query as it was parsed, and as it was analyzed. */
private[sparkkinesis] object QueryRules {
  def ofParsed(
      extensions: SparkSessionExtensions,
      rule: SparkSession => Rule[LogicalPlan]
  ): Unit = extensions.injectHintResolutionRule(rule)

  def ofAnalyzed(
      extensions: SparkSessionExtensions,
      check: SparkSession => LogicalPlan => Unit
  ): Unit = extensions.injectCheckRule(check)
}
