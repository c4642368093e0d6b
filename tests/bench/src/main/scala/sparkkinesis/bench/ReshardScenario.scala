package sparkkinesis.bench

import scala.concurrent.duration._

import software.amazon.awssdk.services.kinesis.model.ScalingType

import sparkkinesis.bench.ReshardScenario._

/** How long a query gets no rows while the shards of its stream double. */
final class ReshardScenario(lab: Lab, sizing: Sizing) extends Scenario {
  override val name = "reshard"
  override val limit: FiniteDuration = 5.minutes

  private val (before, after) = (sizing.reshardFrom, sizing.reshardFrom * 2)

  override def run(): Seq[Result] = LocalKinesis.use("2g") { kinesis =>
    val rounds = (1 to sizing.rounds).map { _ =>
      (longestGap(kinesis, isResharded = true), longestGap(kinesis, isResharded = false))
    }
    val (ours, without) = rounds.unzip
    val title = s"$name: $before to $after shards while draining, longest gap"
    Seq(Result.compared(title, "ms", Samples(ours), Samples(without)))
  }

  /** In milliseconds; with a backlog and a steady flow of new records. */
  private def longestGap(kinesis: LocalKinesis, isResharded: Boolean): Double =
    kinesis.withStream(Stream, before) {
      val backlog = sizing.reshardBacklog
      RawWriter.put(kinesis.client, Stream, backlog, RecordSize)(RawWriter.evenKey)
      val gaps = new Gaps
      val rows =
        lab.read(kinesis.endpoint, Stream, Map("startingPosition" -> "trim_horizon"))
      val query = VisibleRows.listen(rows, lab.newCheckpoint().toString)(_ => gaps.see())
      try {
        Waiting.until("the first row", Limit)(gaps.count > 0)
        if (isResharded) reshard(kinesis.client)
        val sent = new Producer(kinesis.client, Stream, Rate).run(sizing.window)
        Waiting.until(s"${backlog + sent} rows", Limit) {
          query.exception.foreach(throw _)
          gaps.count >= backlog + sent
        }
        gaps.longestMillis
      } finally query.stop()
    }

  private def reshard(client: RawClient): Unit = {
    client.sdk.updateShardCount { b =>
      b.streamName(Stream).targetShardCount(after).scalingType(ScalingType.UNIFORM_SCALING)
      ()
    }
    ()
  }
}

private object ReshardScenario {
  val Stream = "reshard"
  val RecordSize = 1000
  val Rate = 1000
  val Limit: FiniteDuration = 60.seconds
}
