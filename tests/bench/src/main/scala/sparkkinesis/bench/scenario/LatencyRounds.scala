package sparkkinesis.bench.scenario

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.bench.measure.{Producer, RecordAges}
import sparkkinesis.bench.raw.{RawFollower, Waiting}
import sparkkinesis.bench.report.{Figure, Goal, Result, Samples}
import sparkkinesis.bench.scenario.LatencyRounds._
import sparkkinesis.bench.server.LocalKinesis
import sparkkinesis.bench.sizing.Sizing

/** The ages of records of a stream, in a query and in a plain loop that reads them, too. */
final class LatencyRounds(kinesis: LocalKinesis, stream: String, sizing: Sizing) {

  /** The query passes its records to this object. */
  val ours = new RecordAges
  private val raw = new RecordAges

  /**
   * Runs a query, which reads two shards.
   *
   * @param rate records per second
   * @param window length of a round that counts
   */
  def run(rate: Int, window: FiniteDuration)(start: => StreamingQuery): Seq[Round] = {
    val query = start
    try
      Using.resource(new RawFollower(kinesis.client, stream, RawPeriod, 2, raw.see)) { loop =>
        val producer = new Producer(kinesis.client, stream, rate)
        Waiting.until("the query's first rows", StartLimit)(isUp(query, producer))
        (sizing.window +: Seq.fill(sizing.rounds)(window))
          .map { length =>
            round(query, producer, length, () => loop.check())
          }
          .drop(1)
      }
    finally query.stop()
  }

  /**
   * Whether the query reads. Its start position is unknown, so this puts records until one arrives.
   */
  private def isUp(query: StreamingQuery, producer: Producer): Boolean = {
    query.exception.foreach(throw _)
    producer.run(FirstWords)
    ours.size > 0
  }

  private def round(
      query: StreamingQuery,
      producer: Producer,
      window: FiniteDuration,
      check: () => Unit
  ): Round = {
    Waiting.sleep(sizing.window / 5) // what was put before is seen by now, and not counted
    val before = (ours.size, raw.size)
    val sent = producer.run(window)
    Waiting.until(s"$sent rows", EndLimit) {
      check()
      query.exception.foreach(throw _)
      ours.size >= before._1 + sent && raw.size >= before._2 + sent
    }
    Round(ours.take(), raw.take())
  }
}

private[scenario] object LatencyRounds {
  private val RawPeriod = 200.millis
  private val FirstWords = 300.millis
  private val StartLimit = 60.seconds
  private val EndLimit = 30.seconds

  final case class Round(ours: Samples, raw: Samples)

  /** A percentile and, if it has a goal, its upper bound in milliseconds. */
  type Percentile = (Double, Option[Double])

  def results(title: String, rounds: Seq[Round], percentiles: Seq[Percentile]): Seq[Result] =
    percentiles.map { case (share, most) =>
      Result.compared(
        s"$title, p${math.round(share * 100)}",
        "ms",
        pooled(rounds.map(_.ours), share),
        pooled(rounds.map(_.raw), share),
        most.map(Goal.atMost(_)).toSeq: _*
      )
    }

  /**
   * Percentiles over the records of all rounds, because at five records per second a single round
   * has only about a hundred.
   */
  private def pooled(rounds: Seq[Samples], share: Double): Figure =
    Figure(
      Samples(rounds.flatMap(_.values)).percentile(share),
      Samples.of(rounds)(_.percentile(share))
    )
}
