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
 * @param provider name of its data source
 */
final case class NewTable(catalog: String, name: String, provider: String) {

  /**
   * The class of its data source, if there is one. Looking it up may take seconds, because Spark
   * also asks Python for data sources.
   */
  def source: Option[Class[_]] = Try(DataSource.lookupDataSource(provider, SQLConf.get)).toOption
}

object NewTable {

  /** @throws java.lang.LinkageError if this Spark lacks a class that shows a new table */
  def requireClasses(): Unit = Seq[Any](
    classOf[V2CreateTablePlan],
    classOf[ResolvedIdentifier],
    classOf[TableSpecBase],
    DataSource
  ): Unit

  def of(plan: LogicalPlan): Option[NewTable] = plan match {
    case command: V2CreateTablePlan => of(command)
    case _ => None
  }

  private def of(command: V2CreateTablePlan): Option[NewTable] = command.name match {
    case ResolvedIdentifier(catalog, table) =>
      for {
        spec <- command.productIterator.collectFirst { case it: TableSpecBase => it }
        provider <- spec.provider
      } yield NewTable(catalog.name, table.toString, provider)
    case _ => None
  }
}
