package sparkkinesis.bench

import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{col, lit, when}

import sparkkinesis.bench.QuotaScenario._

/** How much of the shards' quotas the sink uses, and how much it sends in vain. */
final class QuotaScenario(lab: Lab, sizing: Sizing) extends Scenario {
  override val name = "quota"
  override val limit: FiniteDuration = 5.minutes

  private val cases = for {
    shards <- Seq(1, 8)
    keys <- Seq(Even, Hot)
  } yield Case(shards, keys)

  override def run(): Seq[Result] = LocalKinesis.use("2g", "--quotas", "aws") { kinesis =>
    cases.flatMap(it => results(it, (1 to sizing.rounds).map(_ => round(kinesis, it))))
  }

  /** The raw loop and the sink at the same time, each with a stream and its quotas. */
  private def round(kinesis: LocalKinesis, of: Case): Round = {
    val load = Load(of.records(sizing.quotaSeconds), RecordSize)
    kinesis.withStream(Raw, of.shards)(kinesis.withStream(Ours, of.shards) {
      val before = ServerStats.of(kinesis.endpoint).entriesFailed
      val refusedRaw = writeBoth(kinesis, load, of)
      val refused = ServerStats.of(kinesis.endpoint).entriesFailed - before
      def use(stream: String, again: Long) = QuotaUse(
        QuotaUse.ofBusiest(kinesis.client, stream, of.shards, of.keys.raw, load.records),
        100 * again.toDouble / (load.records + again)
      )
      Round(use(Ours, refused - refusedRaw), use(Raw, refusedRaw))
    })
  }

  /** @return how many of the raw loop's records were refused */
  private def writeBoth(kinesis: LocalKinesis, load: Load, of: Case): Long = {
    val refused = new AtomicLong
    val raw = () =>
      refused.set(RawWriter.put(kinesis.client, Raw, load.records, load.size)(of.keys.raw))
    val sink = new SinkWrite(lab)
    val ours = () => sink.write(sink.rows(load, of.keys.ours), kinesis.endpoint, Ours)
    RawClient.inParallel(Seq(raw, ours), Limit)
    refused.get
  }

  private def results(of: Case, rounds: Seq[Round]): Seq[Result] = {
    val title = s"$name: ${of.shards} shards, ${of.keys.name} keys"
    Seq(
      Result.compared(
        s"$title, quota used",
        "of 1",
        Samples.of(rounds)(_.ours.share),
        Samples.of(rounds)(_.raw.share),
        Goal.atLeast(0.98)
      ),
      Result.compared(
        s"$title, throttled",
        "% of records",
        Samples.of(rounds)(_.ours.throttledPercent),
        Samples.of(rounds)(_.raw.throttledPercent),
        Goal.below(1)
      )
    )
  }
}

private object QuotaScenario {
  val Raw = "quota-raw"
  val Ours = "quota-ours"
  val Limit: FiniteDuration = 3.minutes

  /** With its key less than 1,048 bytes: the limit of records comes before that of bytes. */
  val RecordSize = 1000

  /** @param hotShare of the records with one and the same key */
  final case class Keys(name: String, hotShare: Double) {
    private val isHot = hotShare > 0

    def raw(number: Int): String =
      if (isHot && number % 2 == 0) HotKey else RawWriter.evenKey(number)

    def ours: Column =
      if (isHot) when(col("id") % 2 === 0, lit(HotKey)).otherwise(SinkWrite.EvenKey)
      else SinkWrite.EvenKey
  }

  private val HotKey = "hot"
  val Even: Keys = Keys("even", 0)
  val Hot: Keys = Keys("half hot", 0.5)

  final case class Case(shards: Int, keys: Keys) {

    /** As many as the busiest shard takes in that time. */
    def records(seconds: Int): Int = {
      val busiest = keys.hotShare + (1 - keys.hotShare) / shards
      (QuotaUse.RecordsPerSecond * seconds / busiest).toInt
    }
  }

  final case class Round(ours: QuotaUse, raw: QuotaUse)
}
