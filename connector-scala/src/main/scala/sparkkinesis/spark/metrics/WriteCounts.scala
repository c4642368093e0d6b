package sparkkinesis.spark.metrics

import sparkkinesis.sink.metrics.SinkMetrics

/**
 * Counts of a write, of one task or of several.
 *
 * @param deadLetters bad rows that are kept in files
 */
private[spark] final case class WriteCounts(sink: SinkMetrics, deadLetters: Long) {
  def +(other: WriteCounts): WriteCounts =
    WriteCounts(sink + other.sink, deadLetters + other.deadLetters)
}

private[spark] object WriteCounts {
  val Zero: WriteCounts = WriteCounts(SinkMetrics.Zero, 0)

  def sum(all: Iterable[WriteCounts]): WriteCounts = all.foldLeft(Zero)(_ + _)
}
