package sparkkinesis.bench

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.bench.IdleScenario._

/** What a query costs while nothing arrives. */
final class IdleScenario(lab: Lab, sizing: Sizing) extends Scenario {
  override val name = "idle"
  override val limit: FiniteDuration = 5.minutes

  override def run(): Seq[Result] = LocalKinesis.use("1g") { kinesis =>
    sizing.idleShards.flatMap { shards =>
      kinesis.withStream(Stream, shards) {
        val ours = ofQuery(kinesis, shards)
        results(s"$name: $shards shards", ours, ofRawLoop(kinesis))
      }
    }
  }

  private def ofQuery(kinesis: LocalKinesis, shards: Int): Seq[Window] = {
    val query = lab
      .read(kinesis.endpoint, Stream)
      .writeStream
      .format("noop")
      .option("checkpointLocation", lab.newCheckpoint().toString)
      .start()
    try {
      awaitReading(kinesis, shards, query)
      Waiting.sleep(sizing.settling)
      (1 to sizing.rounds).map(_ => window(kinesis, shards, query))
    } finally query.stop()
  }

  /** A query that reads nothing yet would be idle indeed. */
  private def awaitReading(kinesis: LocalKinesis, shards: Int, query: StreamingQuery): Unit = {
    def asked = ServerStats.of(kinesis.endpoint).callsOf("GetRecords")
    val before = asked
    Waiting.until(s"reading of $shards shards", StartLimit, 100.millis) {
      query.exception.foreach(throw _)
      asked - before >= shards
    }
  }

  private def window(kinesis: LocalKinesis, shards: Int, query: StreamingQuery): Window = {
    query.exception.foreach(throw _)
    val (before, batch) = (ServerStats.of(kinesis.endpoint), batchOf(query))
    val usage = Usage.of(Waiting.sleep(sizing.window))
    val after = ServerStats.of(kinesis.endpoint)
    val perShard = Operations.map { operation =>
      val count = after.callsOf(operation) - before.callsOf(operation)
      operation -> count / usage.seconds / shards
    }
    Window(usage, perShard.toMap, (batchOf(query) - batch).toDouble)
  }

  private def batchOf(query: StreamingQuery): Long =
    Option(query.lastProgress).fold(-1L)(_.batchId)

  /** A loop that asks each shard once a second, as the service advises. */
  private def ofRawLoop(kinesis: LocalKinesis): Seq[Usage] = {
    val loop = new RawFollower(kinesis.client, Stream, 1.second, RawClient.Threads, _ => ())
    Using.resource(loop) { _ =>
      Waiting.sleep(1.second)
      (1 to sizing.rounds).map(_ => Usage.of(Waiting.sleep(sizing.window)))
    }
  }

  private def results(title: String, ours: Seq[Window], raw: Seq[Usage]): Seq[Result] = {
    val calls = Operations.map { operation =>
      Result.measured(
        s"$title, $operation",
        "calls/s a shard",
        Samples.of(ours)(_.calls(operation)),
        goal = Goals.get(operation)
      )
    }
    val batches = Samples.of(ours)(_.batches)
    val cpu = Result.compared(
      s"$title, CPU",
      "% of a core",
      Samples.of(ours)(w => percent(w.usage)),
      Samples.of(raw)(percent)
    )
    val started =
      Result.measured(s"$title, batches started", "", batches, goal = Some(Goal.atMost(0)))
    calls :+ started :+ cpu
  }

  private def percent(usage: Usage): Double = 100 * usage.cpuSeconds / usage.seconds
}

private object IdleScenario {
  val Stream = "idle"
  val StartLimit: FiniteDuration = 60.seconds
  val Operations: Seq[String] = Seq("GetRecords", "GetShardIterator", "ListShards")
  val Goals: Map[String, Goal] =
    Map("GetRecords" -> Goal.atMost(1), "GetShardIterator" -> Goal.atMost(0))

  /** @param calls a second and shard */
  final case class Window(usage: Usage, calls: Map[String, Double], batches: Double)
}
