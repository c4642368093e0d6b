package sparkkinesis.bench.scenario

import scala.concurrent.duration._

import sparkkinesis.bench.measure.Usage
import sparkkinesis.bench.raw.RawWriter
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.{AlternatingOrder, Load, Sizing}

/** How fast the sink writes without quotas. */
final class SinkScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "sink"
  override val limit: FiniteDuration = 6.minutes

  override def run(): Seq[Result] = LocalKinesis.use("4g") { kinesis =>
    sizing.sinks.flatMap { case (load, shards) => results(kinesis, load, shards) }
  }

  private def results(kinesis: LocalKinesis, load: Load, shards: Int): Seq[Result] = {
    val rounds = (0 to sizing.rounds).map {
      AlternatingOrder.both(_)(raw(kinesis, load, shards), ours(kinesis, load, shards))
    }
    val (first, warm) = (rounds.take(1), rounds.drop(1))
    val title = s"$name: $load, $shards shards"
    def rate(title: String, of: Seq[(Usage, Usage)], goal: Goal*) = Result.compared(
      title,
      "MB/s",
      Samples.of(of)(_._2.megabytesPerSecond(load.bytes)),
      Samples.of(of)(_._1.megabytesPerSecond(load.bytes)),
      goal: _*
    )
    val cpu = Result.compared(
      s"$title, CPU",
      "CPU-s/GB",
      Samples.of(warm)(_._2.cpuSecondsPerGigabyte(load.bytes)),
      Samples.of(warm)(_._1.cpuSecondsPerGigabyte(load.bytes)),
      Goal.ratioAtMost(1.5)
    )
    Seq(rate(title, warm, Goal.ratioAtLeast(0.9)), cpu, rate(s"$title, first round", first))
  }

  private def raw(kinesis: LocalKinesis, load: Load, shards: Int): Usage =
    kinesis.withStream("sink", shards) {
      Usage.of {
        RawWriter.put(kinesis.client, "sink", load.records, load.size)(RawWriter.evenKey)
        ()
      }
    }

  private def ours(kinesis: LocalKinesis, load: Load, shards: Int): Usage =
    kinesis.withStream("sink", shards) {
      val sink = new SinkWrite(spark)
      Usage.of(sink.write(sink.rows(load, SinkWrite.EvenKey), kinesis.endpoint, "sink"))
    }
}
