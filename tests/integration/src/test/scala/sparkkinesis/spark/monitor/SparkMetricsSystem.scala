package org.apache.spark.sparkkinesis

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkEnv

/** What Spark's metrics system publishes now. */
object SparkMetricsSystem {

  /** The gauges of a source by name. Empty without such a source. */
  def gauges(source: String): Map[String, Any] =
    SparkEnv.get.metricsSystem
      .getSourcesByName(source)
      .flatMap { found =>
        found.metricRegistry.getGauges.asScala.map { case (name, gauge) => name -> gauge.getValue }
      }
      .toMap
}
