package sparkkinesis.bench.report

/** A figure measured several times. */
final case class Samples(values: Seq[Double]) {
  require(values.nonEmpty, "A figure is measured once at least.")

  private val sorted = values.sorted

  def median: Double = {
    val middle = sorted.size / 2
    if (sorted.size % 2 == 1) sorted(middle) else (sorted(middle - 1) + sorted(middle)) / 2
  }

  def min: Double = sorted.head

  def max: Double = sorted.last

  /** The smallest value that the given fraction of all values does not exceed. */
  def percentile(share: Double): Double =
    sorted(math.max(0, math.ceil(share * sorted.size).toInt - 1))
}

object Samples {
  def of[A](all: Seq[A])(figure: A => Double): Samples = Samples(all.map(figure))
}
