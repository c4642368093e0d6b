package sparkkinesis.bench

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._

import sparkkinesis.bench.QuotaScenario._

/** How much of the shards' quotas the sink uses, and how much it sends in vain. */
final class QuotaScenario(lab: Lab, sizing: Sizing) extends Scenario {
  override val name = "quota"
  override val limit: FiniteDuration = 10.minutes

  override def run(): Seq[Result] = LocalKinesis.use("2g", "--quotas", "aws") { kinesis =>
    round(kinesis, Cases.head) // cold: it counts for none
    Cases.flatMap(it => results(it, (1 to sizing.rounds).map(_ => round(kinesis, it))))
  }

  /** The raw loop and the sink at the same time, each with a stream and its quotas. */
  private def round(kinesis: LocalKinesis, of: Case): Round = {
    val load = of.load(sizing.quotaSeconds)
    kinesis.withStream(Raw, of.shards)(kinesis.withStream(Ours, of.shards) {
      val before = ServerStats.of(kinesis.endpoint).entriesFailed
      val refusedRaw = writeBoth(kinesis, load, of)
      val refused = ServerStats.of(kinesis.endpoint).entriesFailed - before
      val shares = sharesOf(kinesis.client, of)
      def throttled(again: Long) = 100 * again.toDouble / (load.records + again)
      Round(
        QuotaUse(shares(Ours), throttled(refused - refusedRaw)),
        QuotaUse(shares(Raw), throttled(refusedRaw))
      )
    })
  }

  /** @return how many of the raw loop's records were refused */
  private def writeBoth(kinesis: LocalKinesis, load: Load, of: Case): Long = {
    val refused = new AtomicLong
    val raw = () =>
      refused.set(RawWriter.put(kinesis.client, Raw, load.records, load.size)(of.keys.of))
    val sink = new SinkWrite(lab)
    val ours = () => sink.write(sink.rows(load, of.keys.column), kinesis.endpoint, Ours)
    RawClient.inParallel(Seq(raw, ours), Limit)
    refused.get
  }

  /** Of each stream, the least of the shards that are to be full. */
  private def sharesOf(client: RawClient, of: Case): Map[String, Double] = {
    val shares = new ConcurrentHashMap[(String, Int), Double]
    val streams = Seq(Raw, Ours)
    val tasks = for (stream <- streams; shard <- of.keys.busiest) yield { () =>
      val millis = QuotaUse.arrivals(client, stream, client.shards(stream)(shard))
      shares.put(stream -> shard, QuotaUse.share(millis, of.perSecond))
      ()
    }
    RawClient.inParallel(tasks, Limit, tasks.size)
    streams.map(s => s -> of.keys.busiest.map(shard => shares.get(s -> shard)).min).toMap
  }

  private def results(of: Case, rounds: Seq[Round]): Seq[Result] = {
    val title = s"$name: $of"
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

  final case class Case(size: Int, shards: Int, isHot: Boolean) {
    val keys: QuotaKeys = QuotaKeys(shards, isHot)

    /** Records that a shard takes. */
    def perSecond: Double = QuotaUse.perSecond(size + QuotaKeys.KeyLength)

    /** As much as the busiest shard takes in that time. */
    def load(seconds: Int): Load = Load((perSecond * seconds / keys.shareOfBusiest).toInt, size)

    override def toString: String = s"${Load.short(size.toLong)}, $shards shards, ${keys.name} keys"
  }

  /** 1 KB with the key is less than 1,048 bytes: the quota of records binds; else that of bytes. */
  val Cases: Seq[Case] = Seq(
    Case(1000, 1, isHot = false),
    Case(1000, 1, isHot = true),
    Case(1000, 8, isHot = false),
    Case(1000, 8, isHot = true),
    Case(10000, 8, isHot = false)
  )

  final case class Round(ours: QuotaUse, raw: QuotaUse)
}
