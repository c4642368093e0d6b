package sparkkinesis.bench.scenario

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.bench.measure.{Producer, RecordAges, VisibleRows}
import sparkkinesis.bench.raw.{RawFollower, Waiting}
import sparkkinesis.bench.report.{Figure, Goal, Result, Samples}
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
    goals: String => Seq[(Double, Option[Double])] = _ => Polling
) extends Scenario {
  override val limit: FiniteDuration = 6.minutes

  private lazy val sessions = Seq(
    "default checkpoints" -> spark.session,
    "fast checkpoints" -> withFastCheckpoints(spark.session.newSession())
  )

  private def withFastCheckpoints(session: SparkSession): SparkSession = {
    session.conf.set("spark.sql.streaming.checkpointFileManagerClass", FastCheckpoints)
    session
  }

  override def run(): Seq[Result] = LocalKinesis.use("1g") { kinesis =>
    for {
      (rate, window) <- Seq(5 -> sizing.slowWindow, 500 -> sizing.window)
      (manager, session) <- sessions
      result <- kinesis.withStream(Stream, 2) {
        val measured = rounds(kinesis, session, rate, window)
        results(s"$name: $rate records/s, $manager", measured, goals(manager))
      }
    } yield result
  }

  /** The query and the raw loop read the same records at the same time. */
  private def rounds(
      kinesis: LocalKinesis,
      session: SparkSession,
      rate: Int,
      window: FiniteDuration
  ): Seq[Round] = {
    val (ours, raw) = (new RecordAges, new RecordAges)
    val rows = spark.read(kinesis.endpoint, Stream, options, session)
    val query = VisibleRows.listen(rows, spark.newCheckpoint().toString)(ours.see)
    try
      Using.resource(new RawFollower(kinesis.client, Stream, RawPeriod, 2, raw.see)) { loop =>
        val producer = new Producer(kinesis.client, Stream, rate)
        Waiting.until("the query's first rows", StartLimit)(isUp(query, producer, ours))
        (0 to sizing.rounds)
          .map { _ =>
            round(producer, window, ours, raw, () => loop.check())
          }
          .drop(1)
      }
    finally query.stop()
  }

  /**
   * Whether the query reads. Its start position is unknown, so this puts records until one arrives.
   */
  private def isUp(query: StreamingQuery, producer: Producer, ours: RecordAges): Boolean = {
    query.exception.foreach(throw _)
    producer.run(FirstWords)
    ours.size > 0
  }

  private def round(
      producer: Producer,
      window: FiniteDuration,
      ours: RecordAges,
      raw: RecordAges,
      check: () => Unit
  ): Round = {
    Waiting.sleep(Rest) // what was put before is seen by now, and not counted
    val before = (ours.size, raw.size)
    val sent = producer.run(window)
    Waiting.until(s"$sent rows", EndLimit) {
      check()
      ours.size >= before._1 + sent && raw.size >= before._2 + sent
    }
    Round(ours.take(), raw.take())
  }

  private def results(
      title: String,
      rounds: Seq[Round],
      goals: Seq[(Double, Option[Double])]
  ): Seq[Result] = goals.map { case (share, most) =>
    Result.compared(
      s"$title, p${math.round(share * 100)}",
      "ms",
      pooled(rounds.map(_.ours), share),
      pooled(rounds.map(_.raw), share),
      most.map(Goal.atMost(_)).toSeq: _*
    )
  }
}

private[scenario] object LatencyScenario {

  /**
   * Percentiles over the records of all rounds, because at five records per second a single round
   * has only about a hundred.
   */
  def pooled(rounds: Seq[Samples], share: Double): Figure =
    Figure(
      Samples(rounds.flatMap(_.values)).percentile(share),
      Samples.of(rounds)(_.percentile(share))
    )

  /** Percentiles, and their goals in milliseconds. */
  val Polling: Seq[(Double, Option[Double])] = goals(250, 500)

  def goals(median: Double, most: Double): Seq[(Double, Option[Double])] =
    Seq(0.5 -> Some(median), 0.95 -> None, 0.99 -> Some(most))

  val Stream = "latency"
  val FastCheckpoints =
    "org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager"
  val RawPeriod: FiniteDuration = 200.millis
  val FirstWords: FiniteDuration = 300.millis
  val StartLimit: FiniteDuration = 60.seconds
  val Rest: FiniteDuration = 1500.millis
  val EndLimit: FiniteDuration = 30.seconds

  final case class Round(ours: Samples, raw: Samples)
}
