package sparkkinesis.spark.compat

import java.util.{Iterator => JIterator}

import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DataWriter, Write}

/** Methods of Spark 4 that Spark 3.5 does not have. Spark 3.5 never calls them. */
trait DataWriterShim[T] extends DataWriter[T] {
  def writeAll(rows: JIterator[T]): Unit = rows.forEachRemaining(write(_))
}

trait WriteShim extends Write {
  def reportDriverMetrics(): Array[CustomTaskMetric] = Array.empty
}
