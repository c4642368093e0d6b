package sparkkinesis.bench.scenario

import java.time.Instant

import scala.concurrent.duration._
import scala.util.Using

import sparkkinesis.bench.measure.{Usage, WriteSpeed}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.{AlternatingOrder, Load, Sizing}
import sparkkinesis.client.SystemClock
import sparkkinesis.client.aws.ClientPool
import sparkkinesis.client.options.{ConnectionOptions, ConnectionTable, Options}
import sparkkinesis.shard.StreamClient
import sparkkinesis.sink.once.{Look, ReadBack, WriterIdentity}

/** What exactly once costs: a first attempt, and a read-back of what it wrote. */
final class ExactlyOnceScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  import ExactlyOnceScenario._

  override val name = "exactly_once"
  override val limit: FiniteDuration = 15.minutes

  private val sink = new SinkWrite(spark)

  override def run(): Seq[Result] =
    Seq[Rows](writes(_, _, _), readBacks(_, _, _)).flatMap { rows =>
      LocalKinesis.use("4g") { kinesis =>
        sizing.onceWrites.flatMap { case (load, shards) => rows(kinesis, load, shards) }
      }
    }

  private def writes(kinesis: LocalKinesis, load: Load, shards: Int): Seq[Result] = {
    val title = s"$name: $load, $shards shards, a first attempt"
    val speeds = SinkWrite.speeds(title, sizing, load)(both(kinesis, _, shards, _))
    import speeds.row
    Seq(
      row("steady state", "MB/s", Goal.ratioAtLeast(0.95))(_.steady),
      row("CPU", "CPU-s/GB")(_.cpu)
    )
  }

  /** The same shuffle and the same aggregates, without a guarantee and with it. */
  private def both(
      kinesis: LocalKinesis,
      load: Load,
      shards: Int,
      round: Int
  ): (WriteSpeed, WriteSpeed) = {
    def speed(options: Map[String, String]) = kinesis.withStream(name, shards) {
      WriteSpeed.of(kinesis, sizing.ramp)(write(kinesis, load, options))
    }
    AlternatingOrder.both(round)(speed(Ordered), speed(Ordered ++ once))
  }

  private def once: Map[String, String] = Map(
    "deliveryGuarantee" -> "exactlyOnce",
    "writeId" -> "bench",
    "checkpointLocation" -> spark.newCheckpoint().toString
  )

  private def write(kinesis: LocalKinesis, load: Load, options: Map[String, String]): Unit =
    sink.write(sink.rows(load, SinkWrite.EvenKey), kinesis.endpoint, name, options)

  /** Reads back what a shorter write has written, without the wait before it. */
  private def readBacks(kinesis: LocalKinesis, load: Load, shards: Int): Seq[Result] = {
    val part = load.part(sizing.warmUpPart)
    val rounds = (0 to sizing.rounds).map { _ =>
      kinesis.withStream(name, shards) {
        val since = Instant.now().minusSeconds(10)
        write(kinesis, part, Ordered ++ once)
        Usage.of(readBack(kinesis, since)).seconds * HundredMegabytes / part.bytes
      }
    }
    val title = s"$name: $load, $shards shards, a read-back of 100 MB"
    Seq(Result.measured(title, "s", Samples(rounds.drop(1))))
  }

  private def readBack(kinesis: LocalKinesis, since: Instant): Unit = {
    val options = Options.parse(BenchSpark.options(kinesis.endpoint, name), ConnectionTable.all)
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
  type Rows = (LocalKinesis, Load, Int) => Seq[Result]
  private val Ordered = Map("aggregation" -> "kpl", "ordering" -> "perKey")
  private val HundredMegabytes = 1e8
}
