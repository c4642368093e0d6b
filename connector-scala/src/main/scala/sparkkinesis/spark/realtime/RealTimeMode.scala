package sparkkinesis.spark.realtime

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.CurrentQuery
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}

import sparkkinesis.client.options.OptionException
import sparkkinesis.shard.SharedMap
import sparkkinesis.sink.SinkOptions

/** Real-time mode of Spark 4.1 and later: a batch takes minutes, and its rows arrive one by one. */
private[spark] object RealTimeMode {

  /** The mode's node for a source. Older Spark versions have no such class. */
  private val ScanClass =
    "org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec"

  /** Whether the thread runs a batch in this mode. Spark tells a sink only by the plan. */
  def isRunning(context: SparkContext): Boolean =
    planOf(context).exists(_.exists(isScan))

  private def planOf(context: SparkContext): Option[SparkPlan] =
    Option(context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY))
      .flatMap(id => Option(SQLExecution.getQueryExecution(id.toLong)))
      .map(_.executedPlan)

  private def isScan(plan: SparkPlan): Boolean = plan.getClass.getName == ScanClass

  /** The runs of queries whose source is this connector's, in real-time mode. */
  private val ofSource =
    SharedMap.ofJvm("RealTimeMode", new ConcurrentHashMap[String, java.lang.Boolean])

  /**
   * The query whose thread calls this reads from Kinesis in real-time mode. Then the rows of a
   * partition key come from one shard, and so are in one task.
   */
  def begin(context: SparkContext): AutoCloseable = {
    val run = CurrentQuery.run(context)
    run.foreach(ofSource.put(_, true))
    () => run.foreach(ofSource.remove)
  }

  /** Whether the query whose thread calls this has begun like that. */
  def readsKinesis(): Boolean =
    SparkSession.getActiveSession.exists { it =>
      CurrentQuery.run(it.sparkContext).exists(ofSource.containsKey)
    }

  /** Whether rows of one partition key stay in one task of the batch that the thread runs. */
  def keepsKeys(context: SparkContext): Boolean =
    readsKinesis() && planOf(context).exists(keepsKeys)

  /** Whether there is one source and no shuffle, and the source's column is written as it is. */
  private def keepsKeys(plan: SparkPlan): Boolean = {
    val sources = plan.collect { case scan if isScan(scan) => scan }
    val written = plan.children.flatMap(_.output).find(isKey).map(_.exprId)
    sources.size == 1 && written.nonEmpty &&
    sources.forall(_.output.find(isKey).map(_.exprId) == written) &&
    !plan.exists(_.getClass.getName.contains(".execution.exchange."))
  }

  private def isKey(column: Attribute) = column.name.equalsIgnoreCase("partitionKey")

  /**
   * @param keepsKeys whether the rows of a key are in one task without a shuffle
   * @throws OptionException if a write with these options has to wait for the end of a batch
   */
  def check(options: SinkOptions, keepsKeys: Boolean): Unit = {
    if (options.isOrdered && !keepsKeys)
      throw OptionException.conflicting(
        "Option 'ordering' is perKey, for which Spark shuffles the rows, and the trigger is " +
          "real-time: the shuffle would hold rows back until the batch ends. Set 'ordering' to " +
          "none, or use a micro-batch trigger. In real-time mode, only a query keeps the order " +
          "that reads one Kinesis source, writes its column 'partitionKey' unchanged, and has no " +
          "shuffle."
      )
    if (options.orderBy.nonEmpty)
      throw OptionException.conflicting(
        "Option 'orderBy' sorts the rows of a batch, and the trigger is real-time: the rows of a " +
          "batch arrive one by one. Remove the option: rows keep the order of their shard."
      )
  }
}
