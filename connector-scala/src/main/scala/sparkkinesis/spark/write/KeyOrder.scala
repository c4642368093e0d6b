package sparkkinesis.spark.write

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.connector.distributions.{Distribution, Distributions}
import org.apache.spark.sql.connector.expressions.{
  Expression,
  Expressions,
  NamedReference,
  SortDirection,
  SortOrder
}
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import sparkkinesis.spark.ConnectorError

/**
 * The columns that decide in which order rows are written, by their names in the rows.
 *
 * @param by none: rows keep the order in which Spark hands them over
 */
private[spark] final case class KeyOrder(partitionKey: String, by: Option[String])

private[spark] object KeyOrder {

  /**
   * @param orderBy as the user spelt it
   * @throws ConnectorError where there are no such columns, or they have no order
   */
  def of(schema: StructType, orderBy: Option[String]): KeyOrder = {
    val key = schema.fieldNames.find(_.equalsIgnoreCase("partitionKey")).getOrElse {
      throw invalid(
        "Option 'ordering' is perKey, and column 'partitionKey' (string) is missing: keys that are " +
          "drawn at random have no order. Add it to what is written, or set 'ordering' to none."
      )
    }
    KeyOrder(key, orderBy.map(sorted(schema, _)))
  }

  /** Case as in the user's queries. */
  private def sorted(schema: StructType, name: String): String = {
    val found = schema.fields.filter(field => SQLConf.get.resolver(field.name, name))
    found.toSeq match {
      case Seq(field) if RowOrdering.isOrderable(field.dataType) => field.name
      case Seq(field) =>
        throw invalid(
          s"Column '${field.name}' is ${field.dataType.simpleString}, which has no order: option " +
            "'orderBy' needs the like of a number, a string or a timestamp."
        )
      case Seq() =>
        throw invalid(
          s"Option 'orderBy' is '$name', and there is no such column among " +
            s"${schema.fieldNames.mkString(", ")}. Add it to what is written; it is not sent."
        )
      case several =>
        throw invalid(
          s"Column '$name' of option 'orderBy' is there ${several.size} times. Select one."
        )
    }
  }

  private def invalid(text: String): ConnectorError = ConnectorError(RowRecord.InvalidSchema, text)
}

/**
 * A write whose rows come with all those of one key in one task, in their order.
 *
 * Rows are clustered by partition key alone, even where they go to several streams: rows of one key
 * of one stream are together then. They are sorted by the given column alone and not by key before
 * it, so that keys stay mixed and many shards are busy at a time.
 *
 * Without that column, Spark promises an order only among rows of a key that were in one partition
 * before the shuffle.
 */
private[spark] final class OrderedWrite(write: KinesisWrite, order: KeyOrder)
    extends RequiresDistributionAndOrdering {
  override def description(): String = write.description()

  override def supportedCustomMetrics(): Array[CustomMetric] = write.supportedCustomMetrics()

  override def reportDriverMetrics(): Array[CustomTaskMetric] = write.reportDriverMetrics()

  override def toBatch: BatchWrite = write.toBatch

  override def toStreaming: StreamingWrite = write.toStreaming

  override def requiredDistribution(): Distribution =
    Distributions.clustered(Array[Expression](column(order.partitionKey)))

  /**
   * As many tasks as can run at a time, and no more than the shuffles of the session have. A task has
   * a request in flight for each of its shards, so that a second wave of tasks would add to the time
   * of a batch, and nothing to its rate. Without a number, adaptive execution would fold few rows
   * into one task.
   */
  override def requiredNumPartitions(): Int = {
    val slots = SparkContext.getOrCreate().defaultParallelism
    math.max(1, math.min(slots, SQLConf.get.numShufflePartitions))
  }

  override def requiredOrdering(): Array[SortOrder] =
    order.by.map(name => Expressions.sort(column(name), SortDirection.ASCENDING)).toArray

  /** One column, whatever its name has in it. */
  private def column(name: String): NamedReference =
    Expressions.column("`" + name.replace("`", "``") + "`")
}
