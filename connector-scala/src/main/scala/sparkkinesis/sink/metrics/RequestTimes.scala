package sparkkinesis.sink.metrics

import org.HdrHistogram.Histogram

/** Histograms of how long requests took, in milliseconds. */
private[sink] object RequestTimes {

  /** Digits that the histogram keeps. With two digits a percentile is at most 1 % too large. */
  private val Digits = 2

  /** A histogram of no requests, which its owner fills. */
  def empty: Histogram = {
    val times = new Histogram(Digits)
    times.setAutoResize(true)
    times
  }

  def sum(a: Histogram, b: Histogram): Histogram = {
    val times = empty
    times.add(a)
    times.add(b)
    times
  }
}
