package org.apache.spark.sparkkinesis

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, TableSpecBase, V2CreateTablePlan}
import org.apache.spark.sql.execution.datasources.DataSource
import org.apache.spark.sql.internal.SQLConf

/**
 * A table that a command creates or replaces, with rows or without.
 *
 * @param catalog name of its catalog
 * @param name in the catalog
 * @param source the class of its data source
 */
final case class NewTable(catalog: String, name: String, source: Class[_])

object NewTable {

  /** @throws java.lang.LinkageError if this Spark lacks a class that shows the table */
  def of(plan: LogicalPlan): Option[NewTable] = plan match {
    case command: V2CreateTablePlan => of(command)
    case _ => None
  }

  private def of(command: V2CreateTablePlan): Option[NewTable] = command.name match {
    case ResolvedIdentifier(catalog, table) =>
      for {
        spec <- command.productIterator.collectFirst { case it: TableSpecBase => it }
        provider <- spec.provider
        source <- Try(DataSource.lookupDataSource(provider, SQLConf.get)).toOption
      } yield NewTable(catalog.name, table.toString, source)
    case _ => None
  }
}
