package sparkkinesis.bench.scenario

import scala.concurrent.duration._

import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}

import sparkkinesis.bench.measure.{Producer, RowGaps, VisibleRows}
import sparkkinesis.bench.raw.{RawWriter, Waiting}
import sparkkinesis.bench.report.{Result, Samples}
import sparkkinesis.bench.scenario.RealTimeGaps._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.Sizing

/**
 * How long no row arrives between two batches of real-time mode, with this source and with Spark's
 * own source in memory. The latter is the smallest gap that Spark allows.
 */
private[scenario] final class RealTimeGaps(
    name: String,
    kinesis: LocalKinesis,
    spark: BenchSpark,
    session: SparkSession,
    sizing: Sizing
) {

  /** A row for each way to write checkpoints. */
  def results(): Seq[Result] = LatencyScenario.checkpoints(session).map { case (manager, in) =>
    Result.compared(
      s"$name: gap between two batches, fan-out, $manager",
      "ms",
      ofKinesis(in),
      ofMemory(in)
    )
  }

  private def ofKinesis(in: SparkSession): Samples = kinesis.withStream(Stream, Shards) {
    val options = FanOutScenario.Options + ("startingPosition" -> "trim_horizon")
    val producer = new Producer(kinesis.client, Stream, Rate)
    gaps(spark.read(kinesis.endpoint, Stream, options, in))(producer.run(_))
  }

  private def ofMemory(in: SparkSession): Samples = {
    val memory = LowLatencyMemoryStream[Array[Byte]](in, Shards)(Encoders.BINARY)
    val record = RawWriter.payload(Producer.RecordSize)
    gaps(memory.toDF().toDF("data")) { time =>
      val end = time.fromNow
      while (end.hasTimeLeft()) {
        memory.addData(Seq.fill(Shards)(record))
        Waiting.sleep(1.second * Shards.toLong / Rate.toLong)
      }
    }
  }

  /** @param put writes records for this time */
  private def gaps(rows: DataFrame)(put: FiniteDuration => Any): Samples = {
    val seen = new RowGaps
    val query = VisibleRows.listen(rows, spark.newCheckpoint().toString, Batch)(_ => seen.see())
    try {
      Waiting.until("the query's first rows", StartLimit) {
        query.exception.foreach(throw _)
        put(FirstWords)
        seen.count > 0
      }
      put(BatchTime * (sizing.batchGaps + 1L))
      query.exception.foreach(throw _)
      Samples(seen.longest(sizing.batchGaps))
    } finally query.stop()
  }
}

private object RealTimeGaps {
  val Stream = "realtime-gaps"
  val Shards = 2
  val Rate = 500
  val BatchTime: FiniteDuration = 3.seconds
  val Batch: Trigger = Trigger.RealTime(BatchTime.toMillis)
  val FirstWords: FiniteDuration = 300.millis
  val StartLimit: FiniteDuration = 60.seconds
}
