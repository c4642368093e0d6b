package sparkkinesis.bench

import scala.concurrent.duration._

import sparkkinesis.bench.DrainScenario._

/** How fast the source takes in what a stream holds. */
final class DrainScenario(lab: Lab, sizing: Sizing) extends Scenario {
  override val name = "drain"
  override val limit: FiniteDuration = 10.minutes

  /** By default a shard is asked five times a second, as the service wants it. */
  private val variants =
    Seq(
      "defaults" -> Map.empty[String, String],
      "minFetchPeriod=1ms" -> Map("minFetchPeriod" -> "1ms")
    )

  override def run(): Seq[Result] = LocalKinesis.use("4g") { kinesis =>
    for {
      load <- sizing.drains
      shards <- sizing.drainShards
      result <- kinesis.withStream("drain", shards) {
        RawWriter.put(kinesis.client, "drain", load.records, load.size)(RawWriter.evenKey)
        results(s"$name: $load, $shards shards", load, rounds(kinesis, load))
      }
    } yield result
  }

  private def rounds(kinesis: LocalKinesis, load: Load): Seq[Round] =
    (0 to sizing.rounds).map { _ =>
      val raw = Usage.of(RawReader.drain(kinesis.client, "drain", load.records.toLong))
      val ours = variants.map { case (variant, options) =>
        val rows = lab.read(
          kinesis.endpoint,
          "drain",
          options + ("startingPosition" -> "trim_horizon")
        )
        val checkpoint = lab.newCheckpoint().toString
        variant -> Usage.of(RowCount.drain(rows, checkpoint, load.records.toLong))
      }
      Round(raw, ours.toMap)
    }

  private def results(title: String, load: Load, rounds: Seq[Round]): Seq[Result] = {
    val (first, warm) = (rounds.take(1), rounds.drop(1))
    variants.flatMap { case (variant, _) =>
      def rate(title: String, of: Seq[Round], goal: Goal*) = Result.compared(
        s"$title, $variant",
        "MB/s",
        Samples.of(of)(_.ours(variant).megabytesPerSecond(load.bytes)),
        Samples.of(of)(_.raw.megabytesPerSecond(load.bytes)),
        goal: _*
      )
      val cpu = Result.compared(
        s"$title, $variant, CPU",
        "CPU-s/GB",
        Samples.of(warm)(_.ours(variant).cpuSecondsPerGigabyte(load.bytes)),
        Samples.of(warm)(_.raw.cpuSecondsPerGigabyte(load.bytes)),
        Goal.ratioAtMost(1.5)
      )
      Seq(rate(title, warm, Goal.ratioAtLeast(0.8)), cpu, rate(s"$title, first round", first))
    }
  }
}

private object DrainScenario {

  /** The raw loop's usage, and the source's by variant. */
  final case class Round(raw: Usage, ours: Map[String, Usage])
}
