package sparkkinesis.bench.scenario

import scala.concurrent.duration._

import sparkkinesis.bench.raw.RawWriter
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.server.{ColdQuery, LocalKinesis}
import sparkkinesis.bench.sizing.{AlternatingOrder, Sizing}

/** How long a new process takes to the first row of a query. */
final class ColdScenario(sizing: Sizing) extends Scenario {
  import ColdScenario._

  override val name = "cold"
  override val limit: FiniteDuration = 5.minutes

  override def run(): Seq[Result] = LocalKinesis.use("1g") { kinesis =>
    kinesis.withStream(Stream, Shards) {
      RawWriter.put(kinesis.client, Stream, Records, RecordSize)(RawWriter.evenKey)
      val pairs = (0 to sizing.rounds).map { round =>
        AlternatingOrder.both(round)(ColdQuery.rate(), ColdQuery.kinesis(kinesis.endpoint, Stream))
      }
      val warm = pairs.drop(1) // the first round reads the jars into the file cache
      def millis(of: ((FiniteDuration, FiniteDuration)) => FiniteDuration) =
        Samples.of(warm)(pair => of(pair).toMillis.toDouble)
      Seq(
        Result.compared(
          s"$name: first row, $Shards shards",
          "ms",
          millis(_._2),
          millis(_._1),
          Goal.ratioAtMost(1.5)
        )
      )
    }
  }
}

private object ColdScenario {
  val Stream = "cold"
  val Shards = 4
  val Records = 1000
  val RecordSize = 1000
}
