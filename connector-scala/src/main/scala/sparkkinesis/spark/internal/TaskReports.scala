package org.apache.spark.sparkkinesis

import org.apache.spark.SparkContext
import org.apache.spark.util.CollectionAccumulator

/** What tasks tell the driver when they end. */
object TaskReports {

  /**
   * Gathers what every attempt at a task adds, also of those that fail or are killed, which Spark
   * keeps to its own accumulators. Only bytes travel, as with [[DriverRpc]].
   */
  def ofAllAttempts(context: SparkContext): CollectionAccumulator[Array[Byte]] = {
    val reports = new CollectionAccumulator[Array[Byte]]
    reports.register(context, name = None, countFailedValues = true)
    reports
  }
}
