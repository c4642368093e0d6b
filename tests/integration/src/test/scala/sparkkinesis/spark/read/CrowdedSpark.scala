package sparkkinesis.spark.read

import java.nio.file.Files
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicLong, AtomicReference}

import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.simulator.service.SimulatedKinesis

/**
 * Many queries in one Spark, each with the whole backlog of a stream, as a program for
 * [[CrowdedSparkSuite]]. No query ends its first batch before every query has begun its own.
 *
 * Arguments: endpoint, stream, number of queries, number of records in the stream, and of a page.
 * Prints the records of each query at the moment when the first one has read all, and then the
 * records of each query, its batches, and its ranges that were read again.
 */
object CrowdedSpark {
  def main(args: Array[String]): Unit = {
    val spark = SparkSession
      .builder()
      .master("local[2]")
      .config("spark.ui.enabled", false)
      .config("spark.sql.ui.retainedExecutions", 10)
      .config("spark.ui.retainedJobs", 10)
      .getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    try new CrowdedSpark(spark, args(0), args(1), args(2).toInt, args(3).toLong, args(4)).run()
    finally spark.stop()
  }
}

private final class CrowdedSpark(
    spark: SparkSession,
    endpoint: String,
    stream: String,
    count: Int,
    records: Long,
    pageRecords: String
) {
  private val begun = new CountDownLatch(count)
  private val done = Vector.fill(count)(new AtomicLong)
  private val batches = Vector.fill(count)(new AtomicLong)
  private val atFirstEnd = new AtomicReference(Option.empty[Seq[Long]])

  def run(): Unit = {
    val queries = done.indices.map(start)
    while (done.exists(_.get < records) && queries.forall(_.isActive)) Thread.sleep(50)
    queries.flatMap(_.exception).foreach(throw _)
    println(atFirstEnd.get.getOrElse(Nil).mkString(" "))
    println(done.mkString(" "))
    println(batches.mkString(" "))
    println(queries.map(reread).mkString(" "))
    queries.foreach(_.stop())
  }

  private def reread(query: StreamingQuery): String =
    query.lastProgress.sources.head.metrics.get("rereadRanges")

  private def start(index: Int): StreamingQuery = spark.readStream
    .format("kinesis")
    .option("streamName", stream)
    .option("region", SimulatedKinesis.Region)
    .option("endpoint", endpoint)
    .option("awsAccessKeyId", "ID")
    .option("awsSecretAccessKey", "hush")
    .option("startingPosition", "trim_horizon")
    .option("minFetchPeriod", "1ms")
    .option("maxRecordsPerFetch", pageRecords)
    .option("fetchBufferSize", "256m")
    .option("fetchSpillSize", "0")
    .load()
    .writeStream
    .option("checkpointLocation", Files.createTempDirectory(s"crowded-$index").toString)
    .foreachBatch((frame: DataFrame, _: Long) => read(index, frame))
    .start()

  private def read(index: Int, frame: DataFrame): Unit = {
    if (batches(index).incrementAndGet() == 1) begun.countDown()
    begun.await()
    if (done(index).addAndGet(frame.count()) == records)
      atFirstEnd.compareAndSet(None, Some(done.map(_.get))): Unit
  }
}
