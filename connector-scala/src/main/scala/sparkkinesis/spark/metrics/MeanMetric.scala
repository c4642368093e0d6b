package sparkkinesis.spark.metrics

import java.util.Locale

import org.apache.spark.sql.connector.metric.CustomMetric

/**
 * The mean over everything that the tasks counted; a task that counted more weighs more. Spark
 * passes one number per task, so that number holds both sum and count: see [[MeanMetric.pack]].
 */
final class MeanMetric(override val name: String, override val description: String)
    extends CustomMetric {
  import MeanMetric._

  def this() = this("", "")

  override def aggregateTaskMetrics(values: Array[Long]): String = {
    val (sum, count) = (values.map(sumOf).sum, values.map(countOf).sum)
    val mean = if (count == 0) 0.0 else sum.toDouble / count
    String.format(Locale.ROOT, "%.1f", Double.box(mean))
  }
}

private[spark] object MeanMetric {
  private val CountBits = 24

  /**
   * Sum and count in one number.
   *
   * @param sum not negative, at most 500 times the count
   * @param count not negative; from 2 to the power of 24, sum and count lose low bits
   */
  def pack(sum: Long, count: Long): Long = {
    val tooMany = math.max(0, 64 - java.lang.Long.numberOfLeadingZeros(count) - CountBits)
    ((sum >> tooMany) << CountBits) | (count >> tooMany)
  }

  private def sumOf(packed: Long): Long = packed >> CountBits
  private def countOf(packed: Long): Long = packed & ((1L << CountBits) - 1)
}
