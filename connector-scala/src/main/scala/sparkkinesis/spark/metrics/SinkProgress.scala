package sparkkinesis.spark.metrics

import java.util.Locale

/** The metrics of the sink in a query's progress. See `docs/reference/metrics.md`. */
private[spark] object SinkProgress {

  /** @param counts of all attempts at the tasks of one batch */
  def of(counts: WriteCounts): Map[String, String] = {
    val numbers = WriteMetrics.values(counts).map(it => it.name -> it.value.toString).toMap
    val mean = String.format(Locale.ROOT, "%.1f", Double.box(counts.sink.recordsPerRequest))
    val slowest = counts.sink.longestSleep.map(it => "slowestShard" -> s"${it.stream}/${it.shard}")
    numbers ++ slowest + ("recordsPerRequest" -> mean)
  }
}
