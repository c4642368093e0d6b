package sparkkinesis.bench.scenario

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._

import sparkkinesis.bench.measure.ServerStats
import sparkkinesis.bench.raw.{RawClient, RawWriter}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.QuotaScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.Sizing

/** How much of the shards' quotas the sink uses, and how many records are throttled. */
final class QuotaScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "quota"
  override val limit: FiniteDuration = 15.minutes

  override def run(): Seq[Result] = LocalKinesis.use("3g", "--quotas", "aws") { kinesis =>
    round(kinesis, QuotaCase.All.head) // cold: it counts for none
    QuotaCase.All.flatMap(it => results(it, (1 to sizing.rounds).map(_ => round(kinesis, it))))
  }

  /** Runs the raw loop and the sink at the same time, each with its own stream and quotas. */
  private def round(kinesis: LocalKinesis, of: QuotaCase): Round =
    kinesis.withStream(Raw, of.shards)(kinesis.withStream(Ours, of.shards) {
      val before = ServerStats.of(kinesis.endpoint).entriesFailed
      val refusedRaw = writeBoth(kinesis, of)
      val refused = ServerStats.of(kinesis.endpoint).entriesFailed - before
      val written = arrivals(kinesis.client, of)
      val (raw, ours) = (of.rawLoad(sizing.quotaSeconds), of.load(sizing.quotaSeconds))
      Round(
        Written(ours.records, written(Ours), refused - refusedRaw),
        Written(raw.records, written(Raw), refusedRaw)
      )
    })

  /** @return number of records of the raw loop that were refused */
  private def writeBoth(kinesis: LocalKinesis, of: QuotaCase): Long = {
    val refused = new AtomicLong
    val plain = of.rawLoad(sizing.quotaSeconds)
    val raw = () =>
      refused.set(RawWriter.put(kinesis.client, Raw, plain.records, plain.size)(of.keys.of))
    val sink = new SinkWrite(spark)
    val rows = sink.rows(of.load(sizing.quotaSeconds), of.keys.column)
    val ours = () => sink.write(rows, kinesis.endpoint, Ours, of.mode.options)
    RawClient.inParallel(Seq(raw, ours), Limit)
    refused.get
  }

  /** The records of each stream and shard. */
  private def arrivals(client: RawClient, of: QuotaCase): Map[String, Seq[Seq[Arrival]]] = {
    val all = new ConcurrentHashMap[(String, Int), Seq[Arrival]]
    val streams = Seq(Raw, Ours)
    val tasks = for (stream <- streams; shard <- 0 until of.shards) yield { () =>
      all.put(stream -> shard, QuotaUse.arrivals(client, stream, client.shards(stream)(shard)))
      ()
    }
    RawClient.inParallel(tasks, Limit, tasks.size)
    streams.map(s => s -> (0 until of.shards).map(shard => all.get(s -> shard))).toMap
  }

  private def results(of: QuotaCase, rounds: Seq[Round]): Seq[Result] = {
    def row(what: String, unit: String, goal: Option[Goal])(figure: Written => Double) =
      Result.compared(
        s"$name: $of, $what",
        unit,
        Samples.of(rounds)(round => figure(round.ours)),
        Samples.of(rounds)(round => figure(round.raw)),
        goal.toSeq: _*
      )
    val isPlain = of.mode.options.isEmpty && !of.keys.isHot
    val used = row("quota used", "of 1", Some(Goal.atLeast(of.mode.goal))) { it =>
      if (of.keys.areOthersRandom) it.together else it.least(of.keys.busiest)
    }
    val others = Option.when(of.keys.others.nonEmpty) {
      row("the other shards', quota used", "of 1", Some(Goal.atLeast(0.95)))(
        _.least(of.keys.others)
      )
    }
    val rows = Option.when(of.mode.isAggregated) {
      val goal = Option.when(of.shards == 1)(Goal.atLeast(10000))
      row("rows", "rows/s", goal)(_.rowsPerSecond)
    }
    val throttled =
      row("throttled", "% of records", Option.when(isPlain)(Goal.below(1)))(_.throttledPercent)
    Seq(used) ++ others ++ rows :+ throttled
  }
}

private object QuotaScenario {
  val Raw = "quota-raw"
  val Ours = "quota-ours"
  val Limit: FiniteDuration = 3.minutes

  final case class Round(ours: Written, raw: Written)

  /**
   * @param arrivals records of each shard
   * @param refused number of records that were refused
   */
  final case class Written(rows: Int, arrivals: Seq[Seq[Arrival]], refused: Long) {

    /** The lowest use of the quota among these shards. */
    def least(shards: Seq[Int]): Double = shards.map(n => QuotaUse.share(arrivals(n))).min

    /** The use of the quota of all shards, until the last of them is done. */
    def together: Double = QuotaUse.share(arrivals.flatten) / arrivals.size

    /** Rows per second over all shards, as if no shard had started with a full bucket. */
    def rowsPerSecond: Double = rows / (1 + QuotaUse.seconds(arrivals.flatten))

    def throttledPercent: Double =
      100 * refused.toDouble / (arrivals.iterator.map(_.size).sum + refused)
  }
}
