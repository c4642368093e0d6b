package sparkkinesis.bench.scenario

import scala.concurrent.duration._

import sparkkinesis.bench.measure.WriteSpeed
import sparkkinesis.bench.raw.RawWriter
import sparkkinesis.bench.report.{Goal, Result}
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.{AlternatingOrder, Load, Sizing}

/** How fast the sink writes without quotas: when it begins, and when it has found its rate. */
final class SinkScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "sink"
  override val limit: FiniteDuration = 15.minutes

  private val sink = new SinkWrite(spark)

  override def run(): Seq[Result] = LocalKinesis.use("4g") { kinesis =>
    sizing.sinks.flatMap { case (load, shards) => results(kinesis, load, shards) }
  }

  private def results(kinesis: LocalKinesis, load: Load, shards: Int): Seq[Result] = {
    val speeds = SinkWrite.speeds(s"$name: $load, $shards shards", sizing, load) {
      both(kinesis, _, shards, _)
    }
    import speeds.row
    Seq(
      row("steady state", "MB/s", Goal.ratioAtLeast(0.9))(_.steady),
      row(s"the first ${sizing.ramp}", "MB/s")(_.ramp),
      row("CPU", "CPU-s/GB", Goal.ratioAtMost(1.5))(_.cpu)
    )
  }

  /** The raw loop and the sink, from the same rows. */
  private def both(
      kinesis: LocalKinesis,
      load: Load,
      shards: Int,
      round: Int
  ): (WriteSpeed, WriteSpeed) = {
    val rows = sink.rows(load, SinkWrite.EvenKey)
    def speed(write: => Unit) =
      kinesis.withStream(name, shards)(WriteSpeed.of(kinesis, sizing.ramp)(write))
    AlternatingOrder.both(round)(
      speed(RawWriter.putRows(rows, kinesis.endpoint, name)),
      speed(sink.write(rows, kinesis.endpoint, name))
    )
  }
}
