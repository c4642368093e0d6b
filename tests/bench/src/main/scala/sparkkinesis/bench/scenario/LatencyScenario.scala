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
    goals: Boolean => Seq[Percentile] = LatencyScenario.Polling
) extends Scenario {
  override val limit: FiniteDuration = 6.minutes

  override def run(): Seq[Result] = LocalKinesis.use("1g") { kinesis =>
    for {
      (rate, window) <- Seq(5 -> sizing.slowWindow, 500 -> sizing.window)
      (manager, session) <- checkpoints(spark.session)
      result <- kinesis.withStream(Stream, 2) {
        val latency = new LatencyRounds(kinesis, Stream, sizing)
        val rows = spark.read(kinesis.endpoint, Stream, options, session)
        val measured = latency.run(rate, window) {
          VisibleRows.listen(rows, spark.newCheckpoint().toString)(latency.ours.see)
        }
        results(s"$name: $rate records/s, $manager", measured, goals(manager == Fast))
      }
    } yield result
  }
}

private[scenario] object LatencyScenario {

  private val Fast = "fast checkpoints"

  private val Polling: Boolean => Seq[Percentile] =
    isFast => if (isFast) goals(150, 300) else goals(200, 400)

  /** Sessions with Spark's two ways to write checkpoints. */
  def checkpoints(session: SparkSession): Seq[(String, SparkSession)] = {
    val fast = session.newSession()
    session.conf.getAll.foreach { case (name, value) =>
      if (session.conf.isModifiable(name)) fast.conf.set(name, value)
    }
    val manager = classOf[FileSystemBasedCheckpointFileManager].getName
    fast.conf.set("spark.sql.streaming.checkpointFileManagerClass", manager)
    Seq("default checkpoints" -> session, Fast -> fast)
  }

  def goals(median: Double, most: Double): Seq[Percentile] =
    Seq(0.5 -> Some(median), 0.95 -> None, 0.99 -> Some(most))

  val Stream = "latency"
}
