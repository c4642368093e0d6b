package sparkkinesis.spark.compat

import java.util.{Iterator => JIterator}

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DataWriter, Write}
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}

/** Methods of Spark 4 that Spark 3.5 does not have. Spark 3.5 never calls them. */
private[sparkkinesis] trait DataWriterShim[T] extends DataWriter[T] {
  def writeAll(rows: JIterator[T]): Unit = rows.forEachRemaining(write(_))
}

private[sparkkinesis] trait WriteShim extends Write {
  def reportDriverMetrics(): Array[CustomTaskMetric] = Array.empty
}

/**
 * Spark 3.5 has no rule that sees the parsed query, so the function `read_kinesis` does not exist.
 * The check of new tables does not run either. It refuses tables in the catalog of another format
 * only, and Spark 3.5 cannot read a Kinesis table in any catalog.
 */
private[sparkkinesis] object QueryRules {
  def ofParsed(
      extensions: SparkSessionExtensions,
      rule: SparkSession => Rule[LogicalPlan]
  ): Unit = ()

  def ofAnalyzed(
      extensions: SparkSessionExtensions,
      check: SparkSession => LogicalPlan => Unit
  ): Unit = ()
}
