package org.apache.spark.sparkkinesis

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.DataSource

/**
 * A streaming read of a table in a `spark_catalog` of another format, such as Delta's or Iceberg's.
 * Spark resolves such a table with its older interface for data sources. This rule replaces it by
 * the `DataFrame` of the same options.
 *
 * @param isOurs whether the data source of a table has this class
 * @param read makes the streaming `DataFrame` of the options
 */
final class StreamingTable(isOurs: Class[_] => Boolean, read: Map[String, String] => DataFrame)
    extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case relation if relation.nodeName == "StreamingRelation" => // its package differs in Spark 4.1
      relation.productIterator
        .collectFirst {
          case source: DataSource if isOurs(source.providingClass) =>
            read(source.options).queryExecution.logical
        }
        .getOrElse(relation)
  }
}
