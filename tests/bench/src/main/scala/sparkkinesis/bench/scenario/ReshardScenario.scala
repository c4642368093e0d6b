package sparkkinesis.bench.scenario

import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import scala.concurrent.duration._

import software.amazon.awssdk.services.kinesis.model.ScalingType

import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.bench.measure.{Producer, RowGaps, VisibleRows}
import sparkkinesis.bench.raw.{RawClient, RawWriter, Waiting}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.ReshardScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.{AlternatingOrder, Sizing}

/** How long a query receives no rows while the shards of its stream double. */
final class ReshardScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "reshard"
  override val limit: FiniteDuration = 6.minutes

  private val (before, after) = (sizing.reshardFrom, sizing.reshardFrom * 2)
  private val backlog = sizing.reshardBacklog

  override def run(): Seq[Result] = LocalKinesis.use("2g") { kinesis =>
    val rounds = (0 to sizing.rounds).map {
      AlternatingOrder.both(_)(
        round(kinesis, isResharded = false),
        round(kinesis, isResharded = true)
      )
    }
    val (without, ours) = rounds.drop(1).unzip
    val title = s"$name: $before to $after shards while draining"
    Seq(
      Result.compared(
        s"$title, longest gap",
        "ms",
        Samples.of(ours)(_.longestGap),
        Samples.of(without)(_.longestGap)
      ),
      Result.measured(
        s"$title, backlog left at its end",
        "records",
        Samples.of(ours)(_.left),
        Goal.atLeastInEach(1)
      )
    )
  }

  /** Reads a backlog and a steady flow of new records. */
  private def round(kinesis: LocalKinesis, isResharded: Boolean): Round =
    kinesis.withStream(Stream, before) {
      RawWriter.put(kinesis.client, Stream, backlog, RecordSize)(RawWriter.evenKey)
      val gaps = new RowGaps
      val rows = spark.read(kinesis.endpoint, Stream, Options)
      val query = VisibleRows.listen(rows, spark.newCheckpoint().toString)(_ => gaps.see())
      try {
        awaitRows(query, gaps, 1)
        val (left, sent) = (new AtomicLong, new AtomicInteger)
        val change = () => if (isResharded) left.set(reshard(kinesis.client, gaps))
        val flow = () => sent.set(new Producer(kinesis.client, Stream, Rate).run(sizing.window))
        RawClient.inParallel(Seq(change, flow), Limit)
        awaitRows(query, gaps, backlog.toLong + sent.get)
        Round(gaps.longest(1).headOption.getOrElse(0.0), left.doubleValue)
      } finally query.stop()
    }

  private def awaitRows(query: StreamingQuery, gaps: RowGaps, count: Long): Unit =
    Waiting.until(s"$count rows", Limit) {
      query.exception.foreach(throw _)
      gaps.count >= count
    }

  /** @return number of unread records of the backlog at the end; new records count as backlog */
  private def reshard(client: RawClient, gaps: RowGaps): Long = {
    client.sdk.updateShardCount { b =>
      b.streamName(Stream).targetShardCount(after).scalingType(ScalingType.UNIFORM_SCALING)
      ()
    }
    client.awaitActive(Stream)
    math.max(0, backlog - gaps.count)
  }
}

private object ReshardScenario {
  val Stream = "reshard"
  val RecordSize = 1000
  val Rate = 1000
  val Limit: FiniteDuration = 60.seconds

  /** A small buffer, because a large one would contain the backlog before the split. */
  val Options: Map[String, String] =
    Map("startingPosition" -> "trim_horizon", "fetchBufferSize" -> "16m", "fetchSpillSize" -> "0")

  /** @param left unread records of the backlog after the reshard; 0 without one */
  final case class Round(longestGap: Double, left: Double)
}
