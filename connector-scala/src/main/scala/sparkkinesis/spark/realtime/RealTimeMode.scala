package sparkkinesis.spark.realtime

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.{SQLExecution, SparkPlan}

import sparkkinesis.client.options.OptionException
import sparkkinesis.sink.SinkOptions

/** Real-time mode of Spark 4.1 and later: a batch takes minutes, and its rows arrive one by one. */
private[spark] object RealTimeMode {

  /** Its node for a source. Older Spark versions have no such class. */
  private val ScanClass =
    "org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec"

  /** Whether the thread runs a batch in this mode. Spark tells a sink only by the plan. */
  def isRunning(context: SparkContext): Boolean =
    Option(context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY))
      .flatMap(id => Option(SQLExecution.getQueryExecution(id.toLong)))
      .exists(it => scans(it.executedPlan))

  private def scans(plan: SparkPlan): Boolean = plan.exists(_.getClass.getName == ScanClass)

  /** @throws OptionException if a write with these options has to wait for the end of a batch */
  def check(options: SinkOptions): Unit = if (options.isOrdered)
    throw OptionException.conflicting(
      "Option 'ordering' is perKey, for which Spark shuffles the rows, and the trigger is real-time: " +
        "the shuffle would hold rows back until the batch ends. Set 'ordering' to none, or use a " +
        "micro-batch trigger."
    )
}
