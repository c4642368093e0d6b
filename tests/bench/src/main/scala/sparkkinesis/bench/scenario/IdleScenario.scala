package sparkkinesis.bench.scenario

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.bench.measure.{QuietQuery, ServerStats, Usage}
import sparkkinesis.bench.raw.{RawClient, RawFollower, Waiting}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.IdleScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.Sizing

/** What a query costs while no records arrive. */
final class IdleScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "idle"
  override val limit: FiniteDuration = 5.minutes

  override def run(): Seq[Result] = LocalKinesis.use("1g") { kinesis =>
    sizing.idleShards.flatMap { shards =>
      kinesis.withStream(Stream, shards) {
        val ours = ofQuery(kinesis, shards)
        results(s"$name: $shards shards", ours, ofRawLoop(kinesis, shards))
      }
    }
  }

  private def ofQuery(kinesis: LocalKinesis, shards: Int): Seq[Window] = {
    val rows = spark.read(kinesis.endpoint, Stream)
    val checkpoint = spark.newCheckpoint().toString
    val settling = sizing.settling
    QuietQuery.use(kinesis, rows, checkpoint, shards, "GetShardIterator", settling) { query =>
      (1 to sizing.rounds).map(_ => window(kinesis, shards)(batchOf(query)))
    }
  }

  /** @param batch number of the last batch */
  private def window(kinesis: LocalKinesis, shards: Int)(batch: => Long): Window = {
    val (before, batchBefore) = (ServerStats.of(kinesis.endpoint), batch)
    val usage = Usage.of(Waiting.sleep(sizing.window))
    val after = ServerStats.of(kinesis.endpoint)
    val perShard = Operations.map { operation =>
      val count = after.callsOf(operation) - before.callsOf(operation)
      operation -> count / usage.seconds / shards
    }
    Window(usage, perShard.toMap, (batch - batchBefore).toDouble)
  }

  private def batchOf(query: StreamingQuery): Long = {
    query.exception.foreach(throw _)
    Option(query.lastProgress).fold(-1L)(_.batchId)
  }

  /** A loop that polls each shard once per second, as the service advises. */
  private def ofRawLoop(kinesis: LocalKinesis, shards: Int): Seq[Window] = {
    val loop = new RawFollower(kinesis.client, Stream, 1.second, RawClient.Threads, _ => ())
    Using.resource(loop) { _ =>
      Waiting.sleep(1.second)
      (1 to sizing.rounds).map(_ => window(kinesis, shards)(0))
    }
  }

  private def results(title: String, ours: Seq[Window], raw: Seq[Window]): Seq[Result] = {
    val calls = Operations.map { operation =>
      Result.compared(
        s"$title, $operation",
        "calls/s per shard",
        Samples.of(ours)(_.calls(operation)),
        Samples.of(raw)(_.calls(operation)),
        Goals.get(operation).toSeq: _*
      )
    }
    val batches = Samples.of(ours)(_.batches)
    val cpu = Result.compared(
      s"$title, CPU",
      "% of a core",
      Samples.of(ours)(w => percent(w.usage)),
      Samples.of(raw)(w => percent(w.usage))
    )
    val started = Result.measured(s"$title, batches started", "", batches, Goal.never)
    calls :+ started :+ cpu
  }

  private def percent(usage: Usage): Double = 100 * usage.cpuSeconds / usage.seconds
}

private object IdleScenario {
  val Stream = "idle"
  val Operations: Seq[String] = Seq("GetRecords", "GetShardIterator", "ListShards")
  val Goals: Map[String, Goal] =
    Map("GetRecords" -> Goal.atMost(1), "GetShardIterator" -> Goal.never)

  /** @param calls calls per second and shard */
  final case class Window(usage: Usage, calls: Map[String, Double], batches: Double)
}
