package sparkkinesis.spark.metrics

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.Generators._
import sparkkinesis.model.{StreamArn, StreamShard}
import sparkkinesis.shard.Durations
import sparkkinesis.source.plan.{HeldBack, ShardCounts}
import sparkkinesis.source.protocol.{FetchCounters, Frontier}
import sparkkinesis.source.query.{Lateness, QueryReport}

class SourceProgressSuite extends AnyFunSuite {
  private def behind(millis: Long) = Frontier(Vector.empty, Nil, millis, 0)

  private val other = arn.copy(region = "us-east-1")
  private val frontiers = Map(
    shardOf(0) -> behind(100),
    shardOf(1) -> behind(300),
    StreamShard(other, shardId(0)) -> behind(800)
  )

  private val lags =
    Map(shardOf(0) -> 7000L, shardOf(1) -> 5000L, StreamShard(other, shardId(0)) -> 9000L)

  private def progress(streams: StreamArn*) =
    SourceProgress.of(
      QueryReport(
        Lateness(streams.toSet, lags.filter(it => streams.contains(it._1.stream)), Some(2.hours)),
        frontiers.filter { case (id, _) => streams.contains(id.stream) },
        ShardCounts(1, 2, 3, 4),
        FetchCounters.Zero
          .copy(
            records = 5,
            rereadRanges = 6,
            lostRanges = 7,
            subscriptions = 9,
            requests = 30,
            early = 31,
            fallbacks = 32
          ),
        FetchCounters.Zero.copy(records = 10, requests = 4, times = Durations(Map(12 -> 4))),
        failedListings = 8,
        silence = 3.seconds,
        heldBack = Some(Some(HeldBack(shardOf(3), 0, 10))),
        listingHoles = 9
      )
    )

  /** A query that has counted nothing. */
  private def begun(lags: Map[StreamShard, Long]) = {
    val zero = FetchCounters.Zero
    val lateness = Lateness(Set(arn), lags, None)
    SourceProgress.of(
      QueryReport(lateness, Map.empty, ShardCounts.Zero, zero, zero, 0, 0.seconds)
    )
  }

  test("the delays of a batch are its median and its 99th percentile, and nothing without rows") {
    val delays = Durations(Map(3 -> 98L, 12 -> 2L))
    assert(SourceProgress.of(delays) === Map("p50LatencyMs" -> "3", "p99LatencyMs" -> "12"))
    assert(SourceProgress.of(Durations.Zero).isEmpty)
  }

  test("the lags are reported over all shards of one stream, and per stream of several") {
    val one = progress(arn)
    assert(one("minFetchLagMs") === "100" && one("avgFetchLagMs") === "200")
    assert(one("maxFetchLagMs") === "300" && one("streams") === "1")
    assert(one("maxProcessingLagMs") === "7000")
    val two = progress(arn, other)
    assert(two("avgFetchLagMs") === "400" && two("maxFetchLagMs") === "800")
    assert(two(s"maxFetchLagMs.$arn") === "300" && two(s"maxFetchLagMs.$other") === "800")
    assert(two("maxProcessingLagMs") === "9000")
    assert(two(s"maxProcessingLagMs.$arn") === "7000")
    assert(two(s"maxProcessingLagMs.$other") === "9000")
  }

  test("it is reported which shard others wait for, if shards advance together") {
    val together = progress(arn)
    assert(
      together("heldBackShards") === "10" && together("heldBackBy").endsWith(s"/${shardId(3)}")
    )
    assert(!begun(Map.empty).keySet.exists(_.startsWith("heldBack")))
  }

  test("the lag of each shard is reported, at most of the hundred that are furthest behind") {
    val few = progress(arn, other)
    assert(few(s"processingLagMs.${arn.name}/${shardId(1)}") === "5000")
    val many = begun((0 until 1000).map(number => shardOf(number) -> number.toLong).toMap)
    val shown = many.filter(_._1.startsWith("processingLagMs."))
    assert(shown.values.map(_.toInt).toSet === (900 until 1000).toSet)
  }

  test("before the first page there is no lag") {
    val none = begun(Map.empty)
    val absent = Seq("Lag", "subscription", "SinceEvent", "FetchMs", "PerFetch", "Expiry")
    assert(!none.keys.exists(it => absent.exists(it.contains)))
    assert(none("readingShards") === "0" && none("requests") === "0")
  }

  test("the metrics have all counts") {
    val names = Seq("openShards", "closedShards", "waitingShards", "readingShards")
    assert(names.map(progress(arn)(_)) === Seq("1", "2", "3", "4"))
    assert(progress(arn)("fetchedRecords") === "5" && progress(arn)("rereadRanges") === "6")
    assert(progress(arn)("subscriptions") === "9" && progress(arn)("maxMsSinceEvent") === "3000")
    assert(progress(arn)("requests") === "30" && progress(arn)("p99FetchMs") === "12")
    assert(progress(arn)("recordsPerFetch") === "2.5")
    assert(progress(arn)("minMsToExpiry") === "7200000")
    assert(
      progress(arn)("recordsBeforePosition") === "31" && progress(arn)("shardListHoles") === "9"
    )
    assert(progress(arn)("fallbackResponses") === "32")
    assert(progress(arn)("lostRanges") === "7" && progress(arn)("failedShardListings") === "8")
  }

  test("docs/reference/metrics.md names exactly the metrics of a source") {
    val told = progress(arn, other).keySet.map(
      _.replace(arn.toString, "<stream>")
        .replace(other.toString, "<stream>")
        .replaceFirst("^processingLagMs[.].*", "processingLagMs.<stream>/<shard>")
    )
    val ofBatch = SourceProgress.of(Durations(Map(1 -> 1L))).keySet
    assert(MetricsPage.names("Progress of a source") === told ++ ofBatch)
    assert(MetricsPage.names("Tasks that read") === ReadMetrics.all.map(_.name).toSet)
  }
}
