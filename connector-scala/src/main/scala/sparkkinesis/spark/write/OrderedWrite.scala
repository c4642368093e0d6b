package sparkkinesis.spark.write

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.Executors
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

import sparkkinesis.model.StreamArn
import sparkkinesis.spark.compat.WriteShim
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.lineage.KnownStreams

/**
 * A write for which Spark puts all rows of a partition key into one task, in order.
 *
 * Spark clusters the rows by partition key alone, even if they go to several streams: that also
 * puts the rows of one key and one stream into one task. Spark sorts by the column of the order
 * alone, so that keys stay mixed and many shards are busy at the same time.
 *
 * Without that column, rows of a key keep their order only if they were in one partition before the
 * shuffle.
 */
private[spark] final class OrderedWrite(write: KinesisWrite, order: KeyOrder)
    extends WriteShim
    with RequiresDistributionAndOrdering
    with KnownStreams {
  override def description(): String = write.description()

  override def supportedCustomMetrics(): Array[CustomMetric] = write.supportedCustomMetrics()

  override def reportDriverMetrics(): Array[CustomTaskMetric] = write.reportDriverMetrics()

  override def toBatch: BatchWrite = write.toBatch

  override def toStreaming: StreamingWrite = write.toStreaming

  override def knownStreams: Iterable[StreamArn] = write.knownStreams

  override def requiredDistribution(): Distribution =
    Distributions.clustered(Array[Expression](column(order.partitionKey)))

  /**
   * The number of tasks that can run at the same time, at most the shuffle partitions of the
   * session. A task has a request in flight per shard, so a second wave of tasks would lengthen a
   * batch without raising its rate. Without a number, adaptive execution would merge a small batch
   * into one task.
   *
   * Under dynamic allocation, the executors of the moment say nothing about those of the write, so
   * the number is that of the stream's shards.
   */
  override def requiredNumPartitions(): Int = {
    val context = SparkContext.getOrCreate()
    val most = SQLConf.get.numShufflePartitions
    val wanted =
      if (Executors.areDynamic(context)) write.openShards.getOrElse(most)
      else context.defaultParallelism
    math.max(1, math.min(wanted, most))
  }

  override def requiredOrdering(): Array[SortOrder] =
    order.by.map(name => Expressions.sort(column(name), SortDirection.ASCENDING)).toArray

  /** A reference to one column, even if its name has dots or backticks. */
  private def column(name: String): NamedReference =
    Expressions.column("`" + name.replace("`", "``") + "`")
}

/**
 * The columns that decide the order of the write, by their names in the rows.
 *
 * @param by column to sort by; without it, rows keep the order in which Spark passes them
 */
private[spark] final case class KeyOrder(partitionKey: String, by: Option[String])

private[spark] object KeyOrder {

  /**
   * @param orderBy option `orderBy`, as the user wrote it
   * @param isOrdered whether the write is ordered; otherwise it is exactly once
   * @throws ConnectorError if a column is missing or cannot be sorted
   */
  def of(schema: StructType, orderBy: Option[String], isOrdered: Boolean): KeyOrder = {
    val key = schema.fieldNames.find(_.equalsIgnoreCase("partitionKey")).getOrElse {
      throw invalid(if (isOrdered) NoOrder else NoIdentity)
    }
    KeyOrder(key, orderBy.map(sorted(schema, _)))
  }

  private val NoOrder =
    "Option 'ordering' is perKey, and column 'partitionKey' (string) is missing: random keys " +
      "have no order. Add the column to the rows, or set 'ordering' to none."

  private val NoIdentity =
    "Option 'deliveryGuarantee' is exactlyOnce, and column 'partitionKey' (string) is missing: a " +
      "row with a random key cannot be found again. Add the column to the rows, or set the " +
      "option to atLeastOnce."

  /** Finds columns by the case sensitivity of the session. */
  private def sorted(schema: StructType, name: String): String = {
    val found = schema.fields.filter(field => SQLConf.get.resolver(field.name, name))
    found.toSeq match {
      case Seq(field) if RowOrdering.isOrderable(field.dataType) => field.name
      case Seq(field) =>
        throw invalid(
          s"Column '${field.name}' is ${field.dataType.simpleString}, which has no order. Set " +
            "option 'orderBy' to a column that can be sorted, such as a number, a string or a " +
            "timestamp."
        )
      case Seq() =>
        throw invalid(
          s"Option 'orderBy' is '$name', but the rows have no such column: " +
            s"${schema.fieldNames.mkString(", ")}. Add it to the rows; the sink does not send it."
        )
      case several =>
        throw invalid(
          s"Option 'orderBy' is '$name', and the rows have ${several.size} such columns. Select " +
            "one."
        )
    }
  }

  private def invalid(text: String): ConnectorError = ConnectorError(RowRecord.InvalidSchema, text)
}
