package sparkkinesis.bench.scenario

import scala.concurrent.duration._
import scala.util.Using

import sparkkinesis.bench.measure.{RowCount, Usage}
import sparkkinesis.bench.raw.{RawSubscriber, RawWriter}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.FanOutScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.{AlternatingOrder, Load, Sizing}

/** How fast the source reads by enhanced fan-out, against the SDK's own subscriptions. */
final class FanOutScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "fanout"
  override val limit: FiniteDuration = 12.minutes

  override def run(): Seq[Result] =
    drains() ++ new ManyShards(spark, sizing.fanOutShards, name).run() ++ latency.run()

  private def drains(): Seq[Result] = LocalKinesis.use("4g") { kinesis =>
    val load = sizing.gigabyte
    sizing.drainShards.flatMap { shards =>
      kinesis.withStream(Stream, shards)(results(s"$name: $load, $shards shards", kinesis, load))
    }
  }

  private def results(title: String, kinesis: LocalKinesis, load: Load): Seq[Result] = {
    RawWriter.put(kinesis.client, Stream, load.records, load.size)(RawWriter.evenKey)
    val all = (0 to sizing.rounds).map { round =>
      kinesis.advance(Rest)
      def raw = Using.resource(new RawSubscriber(kinesis.endpoint, Stream)) { subscriber =>
        Usage.of(subscriber.drain(load))
      }
      AlternatingOrder.both(round)(raw, ours(kinesis, load))
    }
    val warm = all.drop(1)
    def compared(what: String, unit: String, goal: Goal)(figure: Usage => Double) =
      Result.compared(
        s"$title$what",
        unit,
        Samples.of(warm)(pair => figure(pair._2)),
        Samples.of(warm)(pair => figure(pair._1)),
        goal
      )
    Seq(
      compared("", "MB/s", Goal.ratioAtLeast(0.8))(_.megabytesPerSecond(load.bytes)),
      compared(", CPU", "CPU-s/GB", Goal.ratioAtMost(1.5))(_.cpuSecondsPerGigabyte(load.bytes))
    )
  }

  private def ours(kinesis: LocalKinesis, load: Load): Usage = {
    val rows =
      spark.read(kinesis.endpoint, Stream, Options + ("startingPosition" -> "trim_horizon"))
    RowCount.drain(rows, spark.newCheckpoint().toString, load.records.toLong)
  }

  private def latency = new LatencyScenario(
    spark,
    sizing,
    s"$name: latency",
    Options,
    isFast => if (isFast) LatencyScenario.goals(60, 180) else LatencyScenario.goals(120, 300)
  )
}

private object FanOutScenario {
  val Stream = "fanout"
  val Options: Map[String, String] = Map("consumerMode" -> "efo", "consumerName" -> "ours")

  /** The service refuses a second subscription of a consumer to a shard for five seconds. */
  val Rest: FiniteDuration = 10.seconds
}
