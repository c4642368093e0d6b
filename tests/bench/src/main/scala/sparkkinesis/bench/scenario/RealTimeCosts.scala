package sparkkinesis.bench.scenario

import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.streaming.Trigger

import sparkkinesis.bench.measure.{SteadyWriter, Usage, VisibleRows}
import sparkkinesis.bench.raw.Waiting
import sparkkinesis.bench.report.{Result, Samples}
import sparkkinesis.bench.scenario.RealTimeCosts._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.Sizing

/** The processor time of a query in real-time mode, and of the same query in micro-batches. */
private[scenario] final class RealTimeCosts(
    name: String,
    kinesis: LocalKinesis,
    spark: BenchSpark,
    sizing: Sizing
) {
  def results(): Seq[Result] = {
    val (live, batches) = (of(RealTimeScenario.Live), of(Trigger.ProcessingTime(0)))
    def row(what: String)(figures: Costs => Samples) = Result.compared(
      s"$name: $what, $Shards shards, fan-out, CPU",
      "% of a core",
      figures(live),
      figures(batches)
    )
    Seq(row("idle")(_.idle), row(s"$Rate records/s")(_.busy))
  }

  private def of(trigger: Trigger): Costs = kinesis.withStream(Stream, Shards) {
    val seen = new AtomicLong
    val options = FanOutScenario.Options + ("startingPosition" -> "trim_horizon")
    val rows = spark.read(kinesis.endpoint, Stream, options)
    val query = VisibleRows.listen(rows, spark.newCheckpoint().toString, trigger) { _ =>
      seen.incrementAndGet(); ()
    }
    try {
      val busy = Using.resource(new SteadyWriter(kinesis.client, Stream, Rate * Size, Size)) {
        writer =>
          val begun = Deadline.now
          Waiting.sleep(sizing.window) // a new query, and code that is not compiled yet, cost more
          val used = windows(writer.cpuSeconds)
          val arrived = writer.arrivedBy(System.currentTimeMillis())
          val expected = Rate * (Deadline.now - begun - Delay).toMillis / 1000
          require(arrived >= expected, s"Only $arrived records were written, and not $expected.")
          Waiting.until(s"$arrived rows", Delay) {
            query.exception.foreach(throw _)
            seen.get >= arrived
          }
          used
      }
      Waiting.sleep(Rest)
      Costs(idle = windows(0), busy)
    } finally query.stop()
  }

  /** @param others CPU seconds since some time of what does not belong to the query */
  private def windows(others: => Double): Samples = Samples((1 to sizing.rounds).map { _ =>
    val before = others
    val usage = Usage.of(Waiting.sleep(sizing.window / 2))
    100 * (usage.cpuSeconds - (others - before)) / usage.seconds
  })
}

private object RealTimeCosts {
  val Stream = "realtime-costs"
  val Shards = 10 // as many as the service asks for at this rate
  val Rate = 10000
  val Size = 1000
  val Rest: FiniteDuration = 2.seconds

  /** If the writer or the query is so late, it does not keep up, and the figures mean nothing. */
  val Delay: FiniteDuration = 5.seconds

  /** In percent of a core. */
  final case class Costs(idle: Samples, busy: Samples)
}
