package sparkkinesis.spark.stop

import java.util.{EnumSet, Map => JMap, Set => JSet}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.{LocalScan, ScanBuilder}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * A table that stops a query when it is read. Its only value is what [[QueryStop]] returns, or null
 * if no such run is active. For clients of Spark Connect, which cannot call a method: the scan runs
 * on the driver.
 */
private[sparkkinesis] final class QueryStopTable extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    new StructType().add("betweenBatches", "boolean")

  override def getTable(
      tableSchema: StructType,
      partitioning: Array[Transform],
      properties: JMap[String, String]
  ): Table = new Table with SupportsRead {
    override def name(): String = "stop query"
    override def schema(): StructType = tableSchema
    override def capabilities(): JSet[TableCapability] = EnumSet.of(TableCapability.BATCH_READ)
    override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
      new LocalScan {
        override def readSchema(): StructType = tableSchema
        override def rows(): Array[InternalRow] = {
          val (run, timeout) = (options.get("run"), options.get("timeoutMillis").toLong)
          val query = SparkSession.active.streams.active.find(_.runId.toString == run)
          Array(InternalRow(query.map(it => Boolean.box(QueryStop.stop(it, timeout))).orNull))
        }
      }
  }
}
