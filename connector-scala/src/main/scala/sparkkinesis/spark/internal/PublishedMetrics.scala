package org.apache.spark.sparkkinesis

import com.codahale.metrics.{Gauge, MetricRegistry}

import org.apache.spark.SparkEnv
import org.apache.spark.metrics.source.Source

/**
 * Numbers that Spark's metrics system publishes, for example through JMX or Prometheus. One thread
 * at a time changes them, and any thread reads them.
 *
 * @param sourceName what their names begin with, after those of application and driver
 * @param now the numbers that have another value when they are read than when they were published
 */
final class PublishedMetrics(override val sourceName: String, now: () => Map[String, Number])
    extends Source
    with AutoCloseable {
  override val metricRegistry = new MetricRegistry
  private val system = SparkEnv.get.metricsSystem
  @volatile private var values = Map.empty[String, Number]
  system.registerSource(this)

  /** Publishes these numbers from now on, and no others. */
  def publish(numbers: Map[String, Number]): Unit = {
    val before = values.keySet
    values = numbers
    before.diff(numbers.keySet).foreach(metricRegistry.remove(_))
    numbers.keySet.diff(before).foreach(name => metricRegistry.register(name, gauge(name)))
  }

  private def gauge(name: String): Gauge[Number] = () =>
    now().getOrElse(name, values.getOrElse(name, 0L))

  override def close(): Unit = system.removeSource(this)
}
