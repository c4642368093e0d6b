package sparkkinesis.bench.scenario

import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.bench.measure.{ReadProgress, ServerStats}
import sparkkinesis.bench.raw.{PollingLoop, Waiting}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.ReadQuotaScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.Sizing
import sparkkinesis.model.ServiceLimits

/**
 * How much of the shards' read quotas queries use that catch up, and how many calls are refused.
 */
final class ReadQuotaScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "readquota"
  override val limit: FiniteDuration = 15.minutes

  private val window = sizing.readQuotaWindow
  private val settling = sizing.readQuotaSettling
  private val records = ((settling + window).toSeconds * 5 / 4 * RecordsPerSecond * Shards).toInt

  override def run(): Seq[Result] =
    LocalKinesis.withBacklog(spark.newFolder(), Stream, Shards, records, RecordSize) { kinesis =>
      alone(kinesis) ++ shared(kinesis) ++ besideLoop(kinesis)
    }

  private def alone(kinesis: LocalKinesis): Seq[Result] = {
    val (readers, calls) = read(kinesis, Seq("one"))
    val refused = percentRefused(readers, calls)
    Seq(
      row("one query, quota used", "of 1", readers.head.use, Goal.atLeast(0.95)),
      row("one query, refused", "% of calls", refused, Goal.atMost(2))
    )
  }

  private def shared(kinesis: LocalKinesis): Seq[Result] = {
    val (readers, calls) = read(kinesis, Seq("one", "other"))
    val uses = readers.map(_.use)
    val refused = percentRefused(readers, calls)
    Seq(
      row("two queries, quota used", "of 1", uses.sum, Goal.atLeast(0.95)),
      row(
        "two queries, larger part by smaller",
        "",
        uses.max / math.max(LeastUse, uses.min),
        Goal.atMost(1.2)
      ),
      row("two queries, refused", "% of calls", refused, Goal.atMost(5))
    )
  }

  private def besideLoop(kinesis: LocalKinesis): Seq[Result] =
    Using.resource(new PollingLoop(kinesis.endpoint, Stream)) { loop =>
      val before = new AtomicLong
      val (readers, calls) = read(kinesis, Seq("one"), () => before.set(loop.calls))
      val own = calls - (loop.calls - before.get)
      val refused = percentRefused(readers, own)
      Seq(
        row("beside a loop, quota used", "of 1", readers.head.use),
        row("beside a loop, refused", "% of the query's calls", refused, Goal.atMost(10))
      )
    }

  private def percentRefused(readers: Seq[Got], calls: Long): Double =
    100.0 * readers.map(_.refused).sum / math.max(1L, calls)

  private def row(what: String, unit: String, value: Double, goal: Goal*): Result =
    Result.measured(s"$name: $what", unit, Samples(Seq(value)), goal: _*)

  /**
   * @param onBegin runs when the window begins
   * @return what each query got, and the `GetRecords` calls of all
   */
  private def read(
      kinesis: LocalKinesis,
      names: Seq[String],
      onBegin: () => Unit = () => ()
  ): (Seq[Got], Long) = {
    val listeners = names.map(new ReadProgress(_))
    listeners.foreach(spark.session.streams.addListener)
    val queries = names.map(start(kinesis, _))
    try {
      Waiting.sleep(settling)
      onBegin()
      val (before, callsBefore) = (listeners.map(_.sums), calls(kinesis))
      val begin = System.nanoTime
      Waiting.sleep(window)
      val seconds = (System.nanoTime - begin) / 1e9
      val after = listeners.map(_.sums)
      queries.foreach(_.exception.foreach(throw _))
      val got = before.zip(after).map { case ((rows, refused), (rowsAfter, refusedAfter)) =>
        Got((rowsAfter - rows) / (seconds * Shards * RecordsPerSecond), refusedAfter - refused)
      }
      (got, calls(kinesis) - callsBefore)
    } finally {
      queries.foreach(_.stop())
      listeners.foreach(spark.session.streams.removeListener)
    }
  }

  /**
   * Each query has keys of its own, and so a client and a pace of its own, as in another cluster.
   */
  private def start(kinesis: LocalKinesis, name: String): StreamingQuery = {
    val options = Map("startingPosition" -> "trim_horizon", "awsAccessKeyId" -> name)
    spark
      .read(kinesis.endpoint, Stream, options)
      .writeStream
      .queryName(name)
      .format("noop")
      .option("checkpointLocation", spark.newCheckpoint().toString)
      .start()
  }

  private def calls(kinesis: LocalKinesis): Long =
    ServerStats.of(kinesis.endpoint).callsOf("GetRecords")
}

private object ReadQuotaScenario {
  val Stream = "read-quota"
  val Shards = 8

  /** In a short run, a query may have had no micro-batch. */
  val LeastUse = 0.001
  val RecordSize = 1000

  /** With its partition key, which the quota counts. */
  private val RecordWithKey = RecordSize + 10.5
  val RecordsPerSecond: Double = ServiceLimits.ReadBytesPerSecond / RecordWithKey

  /**
   * @param use of the quota of all shards
   * @param refused calls
   */
  final case class Got(use: Double, refused: Long)
}
