package sparkkinesis.bench.scenario

import scala.concurrent.duration._

import sparkkinesis.bench.measure.{RowCount, Usage}
import sparkkinesis.bench.raw.{RawReader, RawWriter}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.DrainScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.{AlternatingOrder, Load, Sizing}
import sparkkinesis.model.ServiceLimits

/** How fast the source reads the records that a stream has. */
final class DrainScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "drain"
  override val limit: FiniteDuration = 30.minutes

  override def run(): Seq[Result] = LocalKinesis.use("9g") { kinesis =>
    val full = for {
      load <- sizing.drains
      shards <- sizing.drainShards
    } yield kinesis.withStream(Stream, shards) {
      val all = rounds(kinesis, load, Seq(Defaults, Unpaced, Together))
      val title = s"$name: $load, $shards shards"
      Seq(Defaults, Unpaced).flatMap(speeds(title, load, _, all)) :+ together(title, load, all)
    }
    full.flatten ++ kinesis.withStream(Stream, 4)(fixedCosts(rounds(kinesis, One, Seq(Defaults))))
  }

  private def rounds(kinesis: LocalKinesis, load: Load, variants: Seq[Variant]): Seq[Round] = {
    RawWriter.put(kinesis.client, Stream, load.records, load.size)(RawWriter.evenKey)
    (0 to sizing.rounds).map { round =>
      variants.map { variant =>
        def raw = variant.period.map { period =>
          Usage.of(RawReader.drain(kinesis.client, Stream, load, period))
        }
        val (base, took) = AlternatingOrder.both(round)(raw, ours(kinesis, load, variant))
        variant -> Pair(base.getOrElse(took), took)
      }.toMap
    }
  }

  private def ours(kinesis: LocalKinesis, load: Load, variant: Variant): Usage = {
    val options = variant.options + ("startingPosition" -> "trim_horizon")
    val rows = spark.read(kinesis.endpoint, Stream, options)
    RowCount.drain(rows, spark.newCheckpoint().toString, load.records.toLong)
  }

  private def speeds(title: String, load: Load, of: Variant, all: Seq[Round]): Seq[Result] = {
    val (first, warm) = all.map(_(of)).splitAt(1)
    def speed(title: String, pairs: Seq[Pair], goal: Goal*) =
      compared(s"$title, ${of.name}", "MB/s", pairs, goal: _*)(_.megabytesPerSecond(load.bytes))
    val cpu =
      compared(s"$title, ${of.name}, CPU", "CPU-s/GB", warm, Goal.ratioAtMost(1.5)) { usage =>
        usage.cpuSecondsPerGigabyte(load.bytes)
      }
    Seq(speed(title, warm, Goal.ratioAtLeast(0.8)), cpu, speed(s"$title, first round", first))
  }

  /** What it costs that shards advance together, as those of a query with a watermark. */
  private def together(title: String, load: Load, all: Seq[Round]): Result = {
    val pairs = all.drop(1).map(it => Pair(raw = it(Defaults).ours, ours = it(Together).ours))
    compared(s"$title, ${Together.name}", "MB/s", pairs, Goal.ratioAtLeast(0.9)) { usage =>
      usage.megabytesPerSecond(load.bytes)
    }
  }

  /** The costs of a query with one record, which all other queries have too. */
  private def fixedCosts(all: Seq[Round]): Seq[Result] = {
    val warm = all.map(_(Defaults)).drop(1)
    val title = s"$name: 1 record, 4 shards, ${Defaults.name}"
    Seq(
      compared(title, "ms", warm)(_.seconds * 1000),
      compared(s"$title, CPU", "CPU-ms", warm)(_.cpuSeconds * 1000)
    )
  }

  private def compared(title: String, unit: String, pairs: Seq[Pair], goal: Goal*)(
      figure: Usage => Double
  ): Result = Result.compared(
    title,
    unit,
    Samples.of(pairs)(pair => figure(pair.ours)),
    Samples.of(pairs)(pair => figure(pair.raw)),
    goal: _*
  )
}

private object DrainScenario {
  val Stream = "drain"
  val One: Load = Load(1, 1000)

  /**
   * @param options options of the source
   * @param period time between the raw loop's calls of a shard, the same as the source's; `None` if
   *   the variant is not compared with the raw loop
   */
  final case class Variant(
      name: String,
      options: Map[String, String],
      period: Option[FiniteDuration]
  )

  val Defaults: Variant = Variant("defaults", Map.empty, Some(ServiceLimits.GetRecordsPeriod))

  val Unpaced: Variant =
    Variant("minFetchPeriod=1ms", Map("minFetchPeriod" -> "1ms"), Some(Duration.Zero))

  val Together: Variant = Variant(
    "maxShardSkew=5s, against the defaults",
    Map("maxShardSkew" -> "5s"),
    period = None
  )

  final case class Pair(raw: Usage, ours: Usage)

  type Round = Map[Variant, Pair]
}
