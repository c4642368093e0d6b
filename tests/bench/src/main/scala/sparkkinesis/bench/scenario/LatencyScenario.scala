package sparkkinesis.bench.scenario

import scala.concurrent.duration._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager

import sparkkinesis.bench.measure.VisibleRows
import sparkkinesis.bench.report.Result
import sparkkinesis.bench.scenario.LatencyRounds.{Percentile, results}
import sparkkinesis.bench.scenario.LatencyScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.Sizing

/**
 * The time from the moment when a record is due to be put to the moment when the query's code has
 * it.
 */
final class LatencyScenario(
    spark: BenchSpark,
    sizing: Sizing,
    override val name: String = "latency",
    options: Map[String, String] = Map.empty,
    goals: String => Seq[Percentile] = _ => Polling
) extends Scenario {
  override val limit: FiniteDuration = 6.minutes

  private lazy val sessions = Seq(
    "default checkpoints" -> spark.session,
    "fast checkpoints" -> withFastCheckpoints(spark.session.newSession())
  )

  private def withFastCheckpoints(session: SparkSession): SparkSession = {
    val manager = classOf[FileSystemBasedCheckpointFileManager].getName
    session.conf.set("spark.sql.streaming.checkpointFileManagerClass", manager)
    session
  }

  override def run(): Seq[Result] = LocalKinesis.use("1g") { kinesis =>
    for {
      (rate, window) <- Seq(5 -> sizing.slowWindow, 500 -> sizing.window)
      (manager, session) <- sessions
      result <- kinesis.withStream(Stream, 2) {
        val latency = new LatencyRounds(kinesis, Stream, sizing)
        val rows = spark.read(kinesis.endpoint, Stream, options, session)
        val measured = latency.run(rate, window) {
          VisibleRows.listen(rows, spark.newCheckpoint().toString)(latency.ours.see)
        }
        results(s"$name: $rate records/s, $manager", measured, goals(manager))
      }
    } yield result
  }
}

private[scenario] object LatencyScenario {

  private val Polling = goals(250, 500)

  def goals(median: Double, most: Double): Seq[Percentile] =
    Seq(0.5 -> Some(median), 0.95 -> None, 0.99 -> Some(most))

  val Stream = "latency"
}
