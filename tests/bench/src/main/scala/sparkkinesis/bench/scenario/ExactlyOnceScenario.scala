package sparkkinesis.bench.scenario

import java.time.Instant

import scala.concurrent.duration._
import scala.util.Using

import sparkkinesis.bench.measure.Usage
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.{AlternatingOrder, Load, Sizing}
import sparkkinesis.client.SystemClock
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.options.{ConnectionOptions, Options}
import sparkkinesis.shard.StreamClient
import sparkkinesis.sink.once.{Look, ReadBack, WriterIdentity}

/** What exactly once costs: a first attempt, and a read-back of what it wrote. */
final class ExactlyOnceScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  import ExactlyOnceScenario._

  override val name = "exactly_once"
  override val limit: FiniteDuration = 6.minutes

  override def run(): Seq[Result] = LocalKinesis.use("4g") { kinesis =>
    sizing.sinks.filter(_._2 <= MostShards).flatMap { case (load, shards) =>
      results(kinesis, load, shards)
    }
  }

  private def results(kinesis: LocalKinesis, load: Load, shards: Int): Seq[Result] = {
    val rounds = (0 to sizing.rounds).map {
      AlternatingOrder.both(_)(ordered(kinesis, load, shards), once(kinesis, load, shards))
    }
    val warm = rounds.drop(1)
    val title = s"$name: $load, $shards shards"
    val rate = Result.compared(
      s"$title, a first attempt",
      "MB/s",
      Samples.of(warm)(_._2._1.megabytesPerSecond(load.bytes)),
      Samples.of(warm)(_._1.megabytesPerSecond(load.bytes)),
      Goal.ratioAtLeast(0.95)
    )
    val back = Samples.of(warm)(_._2._2.seconds * HundredMegabytes / load.bytes)
    Seq(rate, Result.measured(s"$title, a read-back of 100 MB", "s", back))
  }

  /** The same shuffle, without a guarantee. */
  private def ordered(kinesis: LocalKinesis, load: Load, shards: Int): Usage =
    kinesis.withStream(name, shards)(write(kinesis, load, Map("ordering" -> "perKey")))

  /** The write, and a read-back of all that it wrote, without the wait before it. */
  private def once(kinesis: LocalKinesis, load: Load, shards: Int): (Usage, Usage) =
    kinesis.withStream(name, shards) {
      val since = Instant.now().minusSeconds(10)
      val options = Map(
        "deliveryGuarantee" -> "exactlyOnce",
        "writeId" -> "bench",
        "checkpointLocation" -> spark.newCheckpoint().toString
      )
      (write(kinesis, load, options), Usage.of(readBack(kinesis, since)))
    }

  private def write(kinesis: LocalKinesis, load: Load, options: Map[String, String]): Usage = {
    val sink = new SinkWrite(spark)
    val rows = sink.rows(load, SinkWrite.EvenKey)
    Usage.of(sink.write(rows, kinesis.endpoint, name, options + ("aggregation" -> "kpl")))
  }

  private def readBack(kinesis: LocalKinesis, since: Instant): Unit = {
    val options = Options.parse(BenchSpark.options(kinesis.endpoint, name), ConnectionOptions.Names)
    val access = ConnectionOptions.stream(options, None)
    Using.resource(ClientPool.shared.borrow(access.client)) { loan =>
      val reader = new ReadBack(
        StreamClient(access.ref, loan.value),
        loan.value.describeStream(access.ref),
        SystemClock
      )
      val all = new Look {
        override def from: Instant = since
        override def needs(writer: WriterIdentity): Boolean = true
      }
      require(reader.read(all).nonEmpty, "The read-back found nothing.")
    }
  }
}

private object ExactlyOnceScenario {
  private val MostShards = 4
  private val HundredMegabytes = 1e8
}
