package sparkkinesis.spark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.execution.streaming.Source
import org.apache.spark.sql.sources._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.{DataFrame, Row, SQLContext}

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
class KinesisTableProvider
    extends TableProvider
    with DataSourceRegister
    with SchemaRelationProvider
    with StreamSourceProvider {
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

  /**
   * A table in a `spark_catalog` of another format, such as Delta's or Iceberg's. Spark uses
   * [[getTable]] for no table of such a catalog, but this older interface.
   */
  override def createRelation(
      context: SQLContext,
      options: Map[String, String],
      columns: StructType
  ): BaseRelation =
    ConnectorError.translating(new KinesisRelation(context, TableDefinition.stored(options)))

  /** Spark asks for it before `StreamingTable` replaces the table. */
  override def sourceSchema(
      context: SQLContext,
      columns: Option[StructType],
      provider: String,
      options: Map[String, String]
  ): (String, StructType) = (shortName(), RecordRow.Schema)

  override def createSource(
      context: SQLContext,
      metadataPath: String,
      columns: Option[StructType],
      provider: String,
      options: Map[String, String]
  ): Source = throw ConnectorError(
    "KINESIS_UNSUPPORTED_SPARK",
    "The session started without the connector's jar, so it cannot stream a table of this " +
      "catalog. Start the session with the jar, or use spark.readStream.format(\"kinesis\")."
  )
}

/** A table as Spark's older interface for data sources reads it, and inserts into it. */
private final class KinesisRelation(context: SQLContext, definition: TableDefinition)
    extends BaseRelation
    with PrunedScan
    with InsertableRelation {
  private val session = context.sparkSession

  override def sqlContext: SQLContext = context

  /** Each column may be null, because Spark adds those that an `INSERT` does not name. */
  override def schema: StructType = StructType(RecordRow.Schema.map(_.copy(nullable = true)))

  /** Names no option: some are secrets. */
  override def toString: String = "kinesis"

  override def buildScan(columns: Array[String]): RDD[Row] = {
    val options = ConnectorError.translating(definition.sourceOptions)
    val frame = session.read.format("spark-kinesis").options(options).load()
    frame.select(columns.toSeq.map(frame.col): _*).rdd
  }

  override def insert(rows: DataFrame, overwrite: Boolean): Unit = {
    if (overwrite)
      throw ConnectorError(
        "KINESIS_INVALID_OPTION",
        "A Kinesis table cannot be overwritten: a stream keeps its records. Use INSERT INTO."
      )
    val options = ConnectorError.translating(definition.sinkOptions)
    val written = rows.select("partitionKey", "data")
    written.write.format("spark-kinesis").options(options).mode("append").save()
  }
}

/** A second name of the data source, for platforms whose own source is called `kinesis`. */
final class SparkKinesisTableProvider extends KinesisTableProvider {
  override def shortName(): String = "spark-kinesis"
}
