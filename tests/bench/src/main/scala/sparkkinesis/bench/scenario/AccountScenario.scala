package sparkkinesis.bench.scenario

import scala.concurrent.duration._

import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.bench.measure.{HeapUse, QuietQuery, ServerStats, Usage}
import sparkkinesis.bench.raw.{RawWriter, Waiting}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.AccountScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.Sizing

/**
 * The calls that a query makes to a stream with thousands of shards: while it starts, while it is
 * days behind, and while nothing arrives. All queries of an account share the quotas of such calls.
 */
final class AccountScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "account"
  override val limit: FiniteDuration = 12.minutes

  private val shards = sizing.driverShards

  override def run(): Seq[Result] = LocalKinesis.use("4g", "--quotas", "aws") { kinesis =>
    kinesis.withStream(Stream, shards) {
      kinesis.client.keepLonger(Stream, Retention)
      RawWriter.put(kinesis.client, Stream, shards * RecordsOfShard, RecordSize)(RawWriter.evenKey)
      kinesis.advance(Age)
      val heapBefore = HeapUse.own()
      behind(kinesis) ++ idle(kinesis, heapBefore)
    }
  }

  private def behind(kinesis: LocalKinesis): Seq[Result] = {
    val before = ServerStats.of(kinesis.endpoint)
    val query = start(kinesis)
    try {
      val started = minute(kinesis, query, before)
      val later = minute(kinesis, query, ServerStats.of(kinesis.endpoint))
      rows("the first minute", started) ++ rows("the next minute", later)
    } finally query.stop()
  }

  /** Driver and executor are one process here. */
  private def idle(kinesis: LocalKinesis, heapBefore: Double): Seq[Result] = {
    val options = Map("idleFetchPeriod" -> s"${IdlePeriod.toSeconds}s")
    val source = spark.read(kinesis.endpoint, Stream, options)
    val checkpoint = spark.newCheckpoint().toString
    QuietQuery.use(
      kinesis,
      source,
      checkpoint,
      shards,
      "GetShardIterator",
      sizing.settling * (IdlePeriod / 1.second).toLong // by default, the period is one second
    ) { query =>
      var calls = Map.empty[String, Double]
      val before = ServerStats.of(kinesis.endpoint)
      val usage = Usage.of { calls = minute(kinesis, query, before) }
      val heap = (HeapUse.own() - heapBefore) / 1000 / shards
      val cpu = usage.cpuSeconds / usage.seconds * 60
      val when = s"idle, idleFetchPeriod=${IdlePeriod.toSeconds}s"
      def row(what: String, unit: String, value: Double, goal: Goal*) =
        Result.measured(
          s"$name: $shards shards, $when, $what",
          unit,
          Samples(Seq(value)),
          goal: _*
        )
      rows(when, calls) :+
        row("heap", "KB per shard", heap, Goal.atMost(100)) :+
        row("CPU", "CPU-s/min", cpu)
    }
  }

  /** Each call returns one record, so that the backlog lasts. */
  private def start(kinesis: LocalKinesis): StreamingQuery = {
    val options = Map("startingPosition" -> "trim_horizon", "maxRecordsPerFetch" -> "1")
    spark
      .read(kinesis.endpoint, Stream, options)
      .writeStream
      .format("noop")
      .option("checkpointLocation", spark.newCheckpoint().toString)
      .start()
  }

  /** Calls per minute, by operation. */
  private def minute(
      kinesis: LocalKinesis,
      query: StreamingQuery,
      before: ServerStats
  ): Map[String, Double] = {
    val begin = System.nanoTime
    Waiting.sleep(sizing.accountWindow)
    query.exception.foreach(throw _)
    val after = ServerStats.of(kinesis.endpoint)
    val minutes = (System.nanoTime - begin) / 60e9
    Operations.map(it => it -> (after.callsOf(it) - before.callsOf(it)) / minutes).toMap
  }

  private def rows(when: String, calls: Map[String, Double]): Seq[Result] =
    Operations.map { operation =>
      val title = s"$name: $shards shards, $when, $operation"
      val goal = Goals.get(operation).toSeq
      Result.measured(title, "calls/min", Samples(Seq(calls(operation))), goal: _*)
    }
}

private object AccountScenario {
  val Stream = "account"
  val RecordSize = 100
  val RecordsOfShard = 100
  val Age: FiniteDuration = 3.days

  /** Ten thousand calls per second would be more than this machine can answer. */
  val IdlePeriod: FiniteDuration = 10.seconds
  val Retention: FiniteDuration = 7.days
  val Operations: Seq[String] =
    Seq("DescribeStreamSummary", "ListShards", "GetShardIterator", "GetRecords")

  /** One per second, of the twenty that an account has. */
  val Goals: Map[String, Goal] = Map("DescribeStreamSummary" -> Goal.atMost(60))
}
