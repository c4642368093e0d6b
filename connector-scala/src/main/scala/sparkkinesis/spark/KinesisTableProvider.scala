package sparkkinesis.spark

import java.util.{Map => JMap}

import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkkinesis.spark.read.RecordRow

/**
 * `spark.readStream.format("kinesis")`, `df.writeStream.format("kinesis")`, and the same in batch.
 *
 * Reading: a batch is a fixed set of records, the same on every attempt; records of one partition key
 * come in order, across splits and merges; nothing is left out silently. Writing: every row is
 * acknowledged by Kinesis before its batch is done; a retried task may write rows twice.
 *
 * A wrong option fails here, when the `DataFrame` is defined.
 */
final class KinesisTableProvider extends TableProvider with DataSourceRegister {
  override def shortName(): String = "kinesis"

  /** Asked of sources only, so this is where their options are first seen. */
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = {
    KinesisTable.definedOptions(options)
    RecordRow.Schema
  }

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = new KinesisTable(schema)

  /** A sink is handed the rows' own schema. */
  override def supportsExternalMetadata(): Boolean = true
}
