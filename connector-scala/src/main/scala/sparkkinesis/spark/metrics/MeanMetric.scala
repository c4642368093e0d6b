package sparkkinesis.spark.metrics

import java.util.Locale

import org.apache.spark.sql.connector.metric.CustomMetric

/**
 * A mean over all that the tasks counted, not over the tasks: of one that counted more it has more.
 * A task has but one number to tell, which holds both sum and count: see [[MeanMetric.pack]].
 */
abstract class MeanMetric(override val name: String, override val description: String)
    extends CustomMetric {
  import MeanMetric._

  override def aggregateTaskMetrics(values: Array[Long]): String = {
    val (sum, count) = (values.map(sumOf).sum, values.map(countOf).sum)
    val mean = if (count == 0) 0.0 else sum.toDouble / count
    String.format(Locale.ROOT, "%.1f", Double.box(mean))
  }
}

private[spark] object MeanMetric {
  private val CountBits = 24

  /**
   * Both in one number.
   *
   * @param sum not negative, up to 500 times the count
   * @param count not negative; from 2 to the power of 24 on, both lose low bits
   */
  def pack(sum: Long, count: Long): Long = {
    val tooMany = math.max(0, 64 - java.lang.Long.numberOfLeadingZeros(count) - CountBits)
    ((sum >> tooMany) << CountBits) | (count >> tooMany)
  }

  private def sumOf(packed: Long): Long = packed >> CountBits
  private def countOf(packed: Long): Long = packed & ((1L << CountBits) - 1)
}
