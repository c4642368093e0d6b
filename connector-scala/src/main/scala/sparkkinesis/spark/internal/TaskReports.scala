package org.apache.spark.sparkkinesis

import org.apache.spark.SparkContext
import org.apache.spark.util.CollectionAccumulator

/** Reports that tasks send to the driver when they end. */
object TaskReports {

  /**
   * An accumulator for the reports of all task attempts. Spark's other accumulators ignore attempts
   * that fail or are killed. Reports are bytes: see [[Messages]].
   */
  def ofAllAttempts(context: SparkContext): CollectionAccumulator[Array[Byte]] = {
    val reports = new CollectionAccumulator[Array[Byte]]
    reports.register(context, name = None, countFailedValues = true)
    reports
  }
}
