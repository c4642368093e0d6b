package sparkkinesis.bench.scenario

import java.time.Instant

import scala.concurrent.duration._
import scala.util.Using

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryProgress, Trigger}

import sparkkinesis.bench.measure.SteadyWriter
import sparkkinesis.bench.raw.{RawWriter, Waiting}
import sparkkinesis.bench.report.{Goal, Result, Samples}
import sparkkinesis.bench.scenario.IntervalScenario._
import sparkkinesis.bench.server.{BenchSpark, LocalKinesis}
import sparkkinesis.bench.sizing.Sizing
import sparkkinesis.model.ServiceLimits

/** Queries with an interval trigger: how fast they catch up, and how much a batch takes. */
final class IntervalScenario(spark: BenchSpark, sizing: Sizing) extends Scenario {
  override val name = "interval"
  override val limit: FiniteDuration = 12.minutes

  private val rate = sizing.intervalRate
  private val slow = sizing.slowSink

  override def run(): Seq[Result] = catchingUp() ++ LocalKinesis.use("5g") { kinesis =>
    val slowly = steady(kinesis, slow / SlowBatches, slow * SlowBatches, slow)
    val title = s"$name: ${slow / SlowBatches}, each batch takes $slow"
    results(title, slowly) :+ backlog(kinesis)
  }

  /** Within the service's quotas, from the start of the query on, against the default trigger. */
  private def catchingUp(): Seq[Result] = {
    val seconds = (sizing.intervals :+ sizing.catchUp).max.toSeconds * (CatchUpIntervals + 1)
    val records = seconds * Shards * ServiceLimits.ReadBytesPerSecond / RecordSize
    val folder = spark.newFolder()
    LocalKinesis.withBacklog(folder, Stream, Shards, records.toInt, RecordSize) { kinesis =>
      val standard = catchUp(kinesis, Duration.Zero)
      sizing.intervals.map { interval =>
        Result.compared(
          s"$name: $interval, catching up, against the default trigger",
          "MB/s",
          Samples(Seq(catchUp(kinesis, interval))),
          Samples(Seq(standard)),
          Goal.ratioAtLeast(0.95)
        )
      }
    }
  }

  /** MB per second: what the batches have taken, by the time when the last one was triggered. */
  private def catchUp(kinesis: LocalKinesis, interval: FiniteDuration): Double = {
    val begin = System.currentTimeMillis
    val end = begin + sizing.catchUp.max(interval * CatchUpIntervals).toMillis
    val query = start(kinesis, interval, Duration.Zero)
    try {
      Waiting.until("batches", limit)(withRows(query).lastOption.exists(_.begin >= end))
      val batches = withRows(query)
      val seconds = (batches.last.begin - begin) / 1000.0
      batches.map(_.rows).sum * RecordSize / 1e6 / seconds
    } finally query.stop()
  }

  private def results(title: String, run: Run): Seq[Result] = Seq(
    Result.measured(
      s"$title, delivered of what had arrived",
      "",
      Samples(Seq(run.delivered)),
      Goal.atLeast(0.9)
    ),
    Result.measured(s"$title, triggers without rows", "", Samples(Seq(run.empty)), Goal.never)
  )

  /** A steady writer, and a query until it has run for `time` since its first batch with rows. */
  private def steady(
      kinesis: LocalKinesis,
      interval: FiniteDuration,
      time: FiniteDuration,
      batchTime: FiniteDuration
  ): Run = kinesis.withStream(Stream, Shards) {
    Using.resource(new SteadyWriter(kinesis.client, Stream, rate, RecordSize)) { writer =>
      val query = start(kinesis, interval, batchTime)
      try {
        val end = time.toMillis + batchTime.toMillis
        Waiting.until(s"batches for $time", limit) {
          val batches = withRows(query)
          batches.size > 1 && batches.last.begin - batches.head.begin >= end
        }
        val batches = withRows(query)
        val empty = batches.zip(batches.drop(1)).map { case (one, next) =>
          math.max(
            0,
            math.round((next.begin - one.nextTrigger(interval)).toDouble / interval.toMillis)
          )
        }
        val delivered = batches.map(_.rows).sum.toDouble / writer.arrivedBy(batches.last.begin)
        Run(delivered, empty.sum.toDouble)
      } finally query.stop()
    }
  }

  /** The number of batches that a backlog takes. */
  private def backlog(kinesis: LocalKinesis): Result = kinesis.withStream(Stream, Shards) {
    val (interval, count) = (sizing.backlogInterval, sizing.backlogBytes / RecordSize)
    RawWriter.put(kinesis.client, Stream, count, RecordSize)(RawWriter.evenKey)
    val query = start(kinesis, interval, Duration.Zero)
    try {
      Waiting.until(s"$count rows", limit)(withRows(query).map(_.rows).sum >= count)
      Result.measured(
        s"$name: $interval, a backlog of ${sizing.backlogBytes / 1000000} MB",
        "batches",
        Samples(Seq(withRows(query).size.toDouble)),
        Goal.atMost(3)
      )
    } finally query.stop()
  }

  private def start(
      kinesis: LocalKinesis,
      interval: FiniteDuration,
      batchTime: FiniteDuration
  ): StreamingQuery =
    spark
      .read(kinesis.endpoint, Stream, Map("startingPosition" -> "trim_horizon"))
      .writeStream
      .option("checkpointLocation", spark.newCheckpoint().toString)
      .trigger(Trigger.ProcessingTime(interval.toMillis))
      .foreachBatch { (batch: DataFrame, _: Long) =>
        batch.write.format("noop").mode("append").save()
        Waiting.sleep(batchTime)
      }
      .start()

  private def withRows(query: StreamingQuery): Seq[Batch] = {
    query.exception.foreach(throw _)
    query.recentProgress.toSeq.filter(_.numInputRows > 0).map(Batch.of)
  }
}

private object IntervalScenario {
  val Stream = "interval"
  val Shards = 4
  val RecordSize = 10000

  val CatchUpIntervals = 2L

  /** A slow batch takes as long as these intervals. */
  val SlowBatches = 3L

  /**
   * @param delivered share of the records that had arrived when the last batch was triggered
   * @param empty number of triggers without rows, after the first one with rows
   */
  final case class Run(delivered: Double, empty: Double)

  /**
   * @param begin time of its trigger, in milliseconds since 1970
   * @param end when it was done
   */
  final case class Batch(begin: Long, end: Long, rows: Long) {

    /** Spark fires at multiples of the interval, or when the batch is done if that is later. */
    def nextTrigger(interval: FiniteDuration): Long =
      math.max(end, (begin / interval.toMillis + 1) * interval.toMillis)
  }

  object Batch {
    def of(progress: StreamingQueryProgress): Batch = {
      val begin = Instant.parse(progress.timestamp).toEpochMilli
      val millis = progress.durationMs.get("triggerExecution").longValue
      Batch(begin, begin + millis, progress.numInputRows)
    }
  }
}
