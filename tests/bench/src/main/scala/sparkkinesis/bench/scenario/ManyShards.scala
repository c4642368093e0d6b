package sparkkinesis.bench.scenario

import scala.concurrent.duration._

import sparkkinesis.bench.measure.{Footprint, QuietQuery}
import sparkkinesis.bench.raw.Waiting
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.ManyShards._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}

/** What one executor holds for many quiet shards, by enhanced fan-out and by polling. */
private[scenario] final class ManyShards(spark: BenchSpark, shards: Int, title: String) {

  def run(): Seq[Result] = LocalKinesis.use("1g") { kinesis =>
    kinesis.withStream(Stream, shards) {
      val before = Footprint.to(kinesis.endpoint)
      val pushed = footprint(kinesis, FanOutScenario.Options, "SubscribeToShard")
      Waiting.until("the end of all threads", EndLimit, 100.millis) {
        Footprint.threads <= before.threads + Leftover
      }
      results(pushed.since(before), footprint(kinesis, Map.empty, "GetRecords").since(before))
    }
  }

  private def footprint(
      kinesis: LocalKinesis,
      options: Map[String, String],
      operation: String
  ): Footprint = {
    val rows = spark.read(kinesis.endpoint, Stream, options)
    val checkpoint = spark.newCheckpoint().toString
    QuietQuery.use(kinesis, rows, checkpoint, shards, operation, Settling) { _ =>
      Footprint.to(kinesis.endpoint)
    }
  }

  private def results(pushed: Footprint, polled: Footprint): Seq[Result] = {
    def compared(what: String, unit: String, goal: Goal*)(figure: Footprint => Double) =
      Result.compared(
        s"$title: $shards quiet shards, $what",
        unit,
        Samples(Seq(figure(pushed))),
        Samples(Seq(figure(polled))),
        goal: _*
      )
    val heap = compared("heap", "KB per shard", Goal.atMost(100))(_.heapBytes / 1000 / shards)
    val connections =
      if (pushed.connections.isEmpty) None
      else Some(compared("connections", "")(_.connections.getOrElse(0)))
    Seq(heap, compared("threads", "")(_.threads)) ++ connections
  }
}

private object ManyShards {
  val Stream = "many"
  val EndLimit: FiniteDuration = 60.seconds

  /** Threads of Spark and of the network, which stay for some time after a query. */
  val Leftover = 50

  /** Each subscription has had an event, and batches have ended. */
  val Settling: FiniteDuration = 8.seconds
}
