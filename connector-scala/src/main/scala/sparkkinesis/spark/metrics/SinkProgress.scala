package sparkkinesis.spark.metrics

import java.util.Locale

import sparkkinesis.sink.metrics.ShardTraffic

/** The metrics of the sink in a query's progress. See `docs/reference/metrics.md`. */
private[spark] object SinkProgress {

  /** @param counts of all attempts at the tasks of one batch */
  def of(counts: WriteCounts): Map[String, String] = {
    val numbers = WriteMetrics.values(counts).map(it => it.name -> it.value.toString).toMap
    val sink = counts.sink
    val slowest = sink.longestSleep.map("slowestShard" -> name(_))
    val hottest = sink.hottestShard.toSeq.flatMap { it =>
      Seq("hottestShard" -> name(it), "hottestShardShare" -> decimal("%.3f", sink.shareOf(it)))
    }
    numbers ++ slowest ++ hottest + ("recordsPerRequest" -> decimal("%.1f", sink.recordsPerRequest))
  }

  private def name(shard: ShardTraffic) = s"${shard.stream}/${shard.shard}"

  private def decimal(format: String, value: Double) =
    String.format(Locale.ROOT, format, Double.box(value))
}
