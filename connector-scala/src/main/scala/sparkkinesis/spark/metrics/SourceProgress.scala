package sparkkinesis.spark.metrics

import java.util.Locale

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.shard.Durations
import sparkkinesis.source.protocol.{FetchCounters, Frontier}
import sparkkinesis.source.query.{Lateness, QueryReport}

/**
 * What a query's progress tells of this source: `docs/reference/metrics.md` says what each name
 * means.
 */
private[spark] object SourceProgress {

  private val MostShards = 100

  def of(report: QueryReport): Map[String, String] = {
    import report.lateness.streams
    import report.{counters, frontiers, recent, shards}
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
      "fallbackResponses" -> counters.fallbacks,
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
    val all = fetchLags(frontiers, streams.size > 1) ++ counts ++ fanOut ++
      recent.times.p99.map("p99FetchMs" -> _) ++
      report.heldBack.map("heldBackShards" -> _.fold(0L)(_.shards.toLong))
    val heldBackBy = report.heldBack.flatten.map(it => "heldBackBy" -> nameOf(it.by))
    all.transform((_, value) => value.toString) ++ recordsPerFetch(recent) ++ heldBackBy ++
      of(report.lateness)
  }

  private def nameOf(shard: StreamShard) = s"${shard.stream.name}/${shard.shard}"

  /** The metrics for alarms, which do not wait for the end of a batch. */
  def of(lateness: Lateness): Map[String, String] = {
    import lateness.{lags, streams}
    val ofQuery = lags.valuesIterator.reduceOption(_ max _).map("maxProcessingLagMs" -> _)
    // A stream may have thousands of shards.
    val ofShards = lags.toSeq.sortBy(-_._2).take(MostShards).map { case (id, lag) =>
      s"processingLagMs.${nameOf(id)}" -> lag
    }
    val ofStreams =
      if (streams.size > 1) ofEach("maxProcessingLagMs", lags) else Map.empty[String, Long]
    val toExpiry = lateness.toExpiry.map("minMsToExpiry" -> _.toMillis)
    (ofStreams ++ ofShards ++ ofQuery ++ toExpiry).transform((_, value) => value.toString)
  }

  /** How long the records of a batch took from their arrival to a row; nothing without records. */
  def of(delays: Durations): Map[String, String] =
    Seq("p50LatencyMs" -> delays.p50, "p99LatencyMs" -> delays.p99).collect {
      case (name, Some(millis)) => name -> millis.toString
    }.toMap

  /** The maximum of each stream: the name, a dot, and the stream's ARN. */
  private def ofEach(name: String, millis: Map[StreamShard, Long]): Map[String, Long] =
    millis.groupBy(_._1.stream).map { case (arn, shards) => s"$name.$arn" -> shards.values.max }

  /** Records per request; `None` without requests. */
  private def recordsPerFetch(recent: FetchCounters): Option[(String, String)] =
    Option.when(recent.requests > 0) {
      val mean = recent.records.toDouble / recent.requests
      "recordsPerFetch" -> String.format(Locale.ROOT, "%.1f", Double.box(mean))
    }

  /** How far reading ahead is behind; nothing before the first look at a shard. */
  private def fetchLags(
      frontiers: Map[StreamShard, Frontier],
      areSeveral: Boolean
  ): Map[String, Long] = {
    val behind = frontiers.transform((_, frontier) => frontier.millisBehindLatest)
    val all = behind.values
    if (all.isEmpty) Map.empty
    else {
      val ofQuery = Map(
        "minFetchLagMs" -> all.min,
        "avgFetchLagMs" -> all.sum / all.size,
        "maxFetchLagMs" -> all.max
      )
      if (areSeveral) ofQuery ++ ofEach("maxFetchLagMs", behind) else ofQuery
    }
  }
}
