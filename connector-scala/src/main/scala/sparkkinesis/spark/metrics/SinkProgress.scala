package sparkkinesis.spark.metrics

import java.util.Locale

import sparkkinesis.sink.metrics.SinkCounter

/** What a query's progress tells of this sink: `docs/reference/metrics.md` says what each name means. */
private[spark] object SinkProgress {

  /** @param counts of all attempts at the tasks of one batch */
  def of(counts: WriteCounts): Map[String, String] = {
    val slowest = counts.sink.longestSleep.map(it => "slowestShard" -> s"${it.stream}/${it.shard}")
    val mean = String.format(Locale.ROOT, "%.1f", Double.box(counts.sink.recordsPerRequest))
    numbers(counts).transform((_, value) =>
      value.toString
    ) ++ slowest + ("recordsPerRequest" -> mean)
  }

  /** By the names that they have in the UI, too. */
  def numbers(counts: WriteCounts): Map[String, Long] =
    SinkCounter.all.map(it => it.name -> counts.sink(it)).toMap ++ Map(
      "deadLetters" -> counts.deadLetters,
      "maxShardSleepMs" -> counts.sink.sleepMillis,
      "p99RequestMs" -> counts.sink.requestMillis99
    )
}
