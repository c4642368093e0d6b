package sparkkinesis.spark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.source.options.ReplayOptions
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.ReadOptions
import sparkkinesis.spark.read.task.RecordRow

/**
 * The data source `kinesis`: `spark.readStream.format("kinesis")`,
 * `df.writeStream.format("kinesis")`, `CREATE TABLE ... USING kinesis`, and the batch forms.
 *
 * Reading: a batch is a fixed set of records, the same on every attempt. Records of one partition
 * key arrive in order, across splits and merges. The source never skips a record silently. Writing:
 * a batch ends when Kinesis has acknowledged every row. A retried task may write rows twice.
 *
 * An invalid option raises an error when you define the `DataFrame` or create the table.
 */
class KinesisTableProvider extends TableProvider with DataSourceRegister {
  override def shortName(): String = "kinesis"

  /** Spark asks for the schema of sources and of new tables, so their options are checked here. */
  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    ConnectorError.translating {
      TableDefinition.of(options) match {
        case Some(definition) =>
          TableDefinition.refuseReplay(ReadOptions.checked(definition.checked.sourceOptions))
          RecordRow.Schema
        case None =>
          val parsed = ReadOptions.checked(options.asCaseSensitiveMap.asScala.toMap)
          ReadOptions.schema(parsed.replay.nonEmpty)
      }
    }

  /** `CREATE TABLE` with a list of columns calls this method instead of `inferSchema`. */
  override def inferPartitioning(options: CaseInsensitiveStringMap): Array[Transform] =
    ConnectorError.translating {
      TableDefinition.of(options).foreach(_.checked)
      Array.empty
    }

  /**
   * Loads a table definition even if the definition is invalid, because `DROP TABLE` and `DESCRIBE`
   * load it, too.
   */
  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = {
    if (partitioning.nonEmpty)
      throw ConnectorError(
        "KINESIS_INVALID_SCHEMA",
        "A Kinesis table has no partitions. Remove PARTITIONED BY (partitionBy in the DataFrame " +
          "API)."
      )
    val definition = TableDefinition.of(asOptions(properties))
    val isReplay = definition.isEmpty && ReplayOptions.areIn(properties.keySet.asScala)
    new KinesisTable(schema, definition, isReplay)
  }

  /**
   * The properties as options. A copy of a map that ignores case would lose the names as the user
   * wrote them.
   */
  private def asOptions(properties: JMap[String, String]): CaseInsensitiveStringMap =
    properties match {
      case options: CaseInsensitiveStringMap => options
      case others => new CaseInsensitiveStringMap(others)
    }

  /** Spark passes the schema of the rows for a sink. */
  override def supportsExternalMetadata(): Boolean = true
}

/** A second name of the data source, for platforms whose own source is called `kinesis`. */
final class SparkKinesisTableProvider extends KinesisTableProvider {
  override def shortName(): String = "spark-kinesis"
}
