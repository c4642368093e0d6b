package sparkkinesis.spark.metrics

import java.util.Locale

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol.{FetchCounters, Frontier}
import sparkkinesis.source.query.QueryReport

/**
 * What a query's progress tells of this source: `docs/reference/metrics.md` says what each name
 * means.
 */
private[spark] object SourceProgress {

  /** The metric of each stream of several: this name, a dot, and the stream's ARN. */
  val OfStream = "maxMsBehindLatest"

  /** The metric of each shard: this name, a dot, the stream's name, a slash and the shard's ID. */
  private val OfShard = "msBehindLatest"
  private val MostShards = 100

  def of(report: QueryReport): Map[String, String] = {
    import report.{counters, frontiers, recent, shards, streams}
    val counts = Map(
      "streams" -> streams.size.toLong,
      "openShards" -> shards.open,
      "closedShards" -> shards.closed,
      "waitingShards" -> shards.waiting,
      "readingShards" -> shards.reading,
      "fetchedRecords" -> counters.records,
      "fetchedBytes" -> counters.bytes,
      "requests" -> counters.requests,
      "bufferedBytes" -> counters.bufferedBytes,
      "spilledBytes" -> counters.spilledBytes,
      "throttledRequests" -> counters.throttled,
      "retriedRequests" -> counters.retried,
      "expiredIterators" -> counters.iteratorsExpired,
      "rereadRanges" -> counters.rereadRanges,
      "lostRanges" -> counters.lostRanges,
      "recordsBeforePosition" -> counters.early,
      "failedShardListings" -> report.failedListings,
      "shardListHoles" -> report.listingHoles.toLong
    )
    val fanOut =
      if (counters.subscriptions == 0) Map.empty[String, Long]
      else
        Map(
          "subscriptions" -> counters.subscriptions,
          "subscriptionRenewals" -> counters.renewals,
          "subscriptionsInUse" -> counters.subscriptionsInUse,
          "pushedBytes" -> counters.pushedBytes,
          "maxMsSinceEvent" -> report.silence.toMillis
        )
    val all =
      lags(frontiers) ++ lagsOfShards(frontiers) ++ (if (streams.size > 1) lagsOfStreams(frontiers)
                                                     else Nil) ++ counts ++
        fanOut ++ recent.times.p99.map("p99FetchMs" -> _) ++
        report.toExpiry.map("minMsToExpiry" -> _.toMillis)
    all.transform((_, value) => value.toString) ++ recordsPerFetch(recent)
  }

  /** Records per request; `None` without requests. */
  private def recordsPerFetch(recent: FetchCounters): Option[(String, String)] =
    Option.when(recent.requests > 0) {
      val mean = recent.records.toDouble / recent.requests
      "recordsPerFetch" -> String.format(Locale.ROOT, "%.1f", Double.box(mean))
    }

  /** The lags of streams; none before the first look at their shards. */
  private def lags(frontiers: Map[StreamShard, Frontier]): Map[String, Long] = {
    val behind = frontiers.values.map(_.millisBehindLatest)
    if (behind.isEmpty) Map.empty
    else
      Map(
        "minMsBehindLatest" -> behind.min,
        "avgMsBehindLatest" -> behind.sum / behind.size,
        "maxMsBehindLatest" -> behind.max
      )
  }

  /** The lags of the shards that are furthest behind. A stream may have thousands of shards. */
  private def lagsOfShards(frontiers: Map[StreamShard, Frontier]): Map[String, Long] =
    frontiers.toSeq
      .sortBy { case (_, frontier) => -frontier.millisBehindLatest }
      .take(MostShards)
      .map { case (id, frontier) =>
        s"$OfShard.${id.stream.name}/${id.shard}" -> frontier.millisBehindLatest
      }
      .toMap

  private def lagsOfStreams(frontiers: Map[StreamShard, Frontier]): Map[String, Long] =
    frontiers.groupBy { case (id, _) => id.stream }.map { case (arn, shards) =>
      s"$OfStream.$arn" -> shards.values.map(_.millisBehindLatest).max
    }
}
