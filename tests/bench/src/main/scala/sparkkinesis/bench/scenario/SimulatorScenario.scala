package sparkkinesis.bench.scenario

import scala.concurrent.duration._

import sparkkinesis.bench.measure.{HeapUse, Usage}
import sparkkinesis.bench.raw.{RawReader, RawWriter}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.SimulatorScenario._
import sparkkinesis.bench.server.LocalKinesis
import sparkkinesis.bench.sizing.{Load, Sizing}

/** How fast the local Kinesis is, to show that it does not limit the other measurements. */
final class SimulatorScenario(sizing: Sizing) extends Scenario {
  override val name = "simulator"
  override val limit: FiniteDuration = 3.minutes

  private val load = sizing.gigabyte

  override def run(): Seq[Result] = LocalKinesis.use("4g") { kinesis =>
    kinesis.withStream(Stream, 4) {
      val puts = rounds(kinesis, put(kinesis))
      val heap = HeapUse.ofProcess(kinesis.server.pid).map(_ / stored(puts.size))
      val reads =
        rounds(
          kinesis,
          RawReader.drain(kinesis.client, Stream, Load(perRound * puts.size, load.size))
        )
      val bytes = perRound.toLong * load.size
      rates("PutRecords", puts, bytes, Goal.atLeast(50)) ++
        rates("GetRecords", reads, bytes * puts.size, Goal.atLeast(300)) :+ heapRow(heap)
    }
  }

  private def perRound: Int = load.records / (sizing.rounds + 1)

  private def stored(rounds: Int): Double = perRound.toDouble * rounds * load.size

  private def put(kinesis: LocalKinesis): Unit = {
    RawWriter.put(kinesis.client, Stream, perRound, load.size)(RawWriter.evenKey)
    ()
  }

  private def rounds(kinesis: LocalKinesis, body: => Unit): Seq[Round] =
    (0 to sizing.rounds).map { _ =>
      val before = kinesis.server.cpuSeconds
      val client = Usage.of(body)
      Round(client, kinesis.server.cpuSeconds - before)
    }

  private def rates(what: String, all: Seq[Round], bytes: Long, goal: Goal): Seq[Result] = {
    val warm = all.drop(1)
    Seq(
      Result.measured(
        s"$name: $what, $load",
        "MB/s",
        Samples.of(warm)(_.client.megabytesPerSecond(bytes)),
        goal
      ),
      Result.compared(
        s"$name: $what, CPU against the client's",
        "CPU-s/GB",
        Samples.of(warm)(_.serverCpu / (bytes / 1e9)),
        Samples.of(warm)(_.client.cpuSecondsPerGigabyte(bytes)),
        Option.when(what == "GetRecords")(Goal.ratioBelow(1)).toSeq: _*
      )
    )
  }

  private def heapRow(heap: Either[String, Double]): Result = {
    val (title, unit) = (s"$name: heap, $load", "bytes per byte stored")
    val goal = Goal.atMost(1.6)
    heap.fold(
      Result.missing(title, unit, _, goal),
      used => Result.measured(title, unit, Samples(Seq(used)), goal)
    )
  }
}

private object SimulatorScenario {
  val Stream = "simulator"

  final case class Round(client: Usage, serverCpu: Double)
}
