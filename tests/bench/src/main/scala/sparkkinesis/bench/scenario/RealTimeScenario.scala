package sparkkinesis.bench.scenario

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.Trigger

import sparkkinesis.bench.measure.VisibleRows
import sparkkinesis.bench.raw.RawFollower
import sparkkinesis.bench.report.Result
import sparkkinesis.bench.scenario.LatencyRounds.{Percentile, results}
import sparkkinesis.bench.scenario.RealTimeScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.Sizing

/** Spark's real-time mode: how old rows are when they arrive, and what a query costs. */
final class RealTimeScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "realtime"
  override val limit: FiniteDuration = 12.minutes

  private lazy val session = {
    val session = spark.session.newSession()
    session.conf.set("spark.sql.streaming.realTimeMode.allowlistCheck", false)
    session.conf.set("spark.sql.streaming.realTimeMode.minBatchDuration", 1000)
    session
  }

  override def run(): Seq[Result] = LocalKinesis.use("1g") { kinesis =>
    val fanOut = LatencyScenario.goals(20, 50)
    toRows(kinesis, "fan-out", FanOutScenario.Options, 50, sizing.slowWindow, fanOut) ++
      toRows(kinesis, "fan-out", FanOutScenario.Options, 500, sizing.window, fanOut) ++
      toRows(kinesis, "polling", Map.empty, 500, sizing.window, Percentiles) ++
      toStream(kinesis) ++
      new RealTimeGaps(name, kinesis, spark, session, sizing).results() ++
      new RealTimeCosts(name, kinesis, spark, sizing).results()
  }

  /** From a put to the row in the query's code. */
  private def toRows(
      kinesis: LocalKinesis,
      mode: String,
      options: Map[String, String],
      rate: Int,
      window: FiniteDuration,
      percentiles: Seq[Percentile]
  ): Seq[Result] = kinesis.withStream(Input, 2) {
    val latency = new LatencyRounds(kinesis, Input, sizing)
    val measured = latency.run(rate, window) {
      val rows = read(kinesis, options)
      VisibleRows.listen(rows, spark.newCheckpoint().toString, Live)(latency.ours.see)
    }
    results(s"$name: latency: $rate records/s, $mode, to a row", measured, percentiles)
  }

  /** From a put to a reader of the stream that the query writes to. */
  private def toStream(kinesis: LocalKinesis): Seq[Result] =
    kinesis.withStream(Input, 2)(kinesis.withStream(Output, 2) {
      val latency = new LatencyRounds(kinesis, Input, sizing)
      val follower =
        new RawFollower(kinesis.client, Output, OutputPeriod, 2, latency.ours.see)
      val measured = Using.resource(follower) { _ =>
        latency.run(Rate, sizing.window) {
          read(kinesis, FanOutScenario.Options)
            .select("partitionKey", "data")
            .writeStream
            .format("kinesis")
            .options(BenchSpark.options(kinesis.endpoint, Output))
            .option("checkpointLocation", spark.newCheckpoint().toString)
            .outputMode("update")
            .trigger(Live)
            .start()
        }
      }
      results(s"$name: latency: $Rate records/s, fan-out, to a stream", measured, ToStream)
    })

  private def read(kinesis: LocalKinesis, options: Map[String, String]): DataFrame =
    spark.read(kinesis.endpoint, Input, options, session)
}

private[scenario] object RealTimeScenario {

  /** Spark's default. Hardly a batch ends during a measurement: see [[RealTimeGaps]]. */
  val Live: Trigger = Trigger.RealTime("5 minutes")

  private val Input = "realtime"
  private val Output = "realtime-output"
  private val Rate = 500

  /** The reader of the written stream adds about half of this to the latency. */
  private val OutputPeriod = 5.millis

  private val Percentiles: Seq[Percentile] = Seq(0.5, 0.95, 0.99).map(_ -> None)
  private val ToStream: Seq[Percentile] = (0.5 -> Some(60.0)) +: Percentiles.tail
}
