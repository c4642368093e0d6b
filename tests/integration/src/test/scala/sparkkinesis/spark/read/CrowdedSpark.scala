package sparkkinesis.spark.read

import java.nio.file.Files
import java.util.concurrent.atomic.{AtomicLong, AtomicReference}
import java.util.concurrent.{Phaser, TimeUnit}

import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.simulator.service.SimulatedKinesis

/**
 * Many queries in one Spark, each with the whole backlog of a stream, as a program for
 * [[CrowdedSparkSuite]]. The queries take turns: no query goes on with its batch before every query
 * has begun its batch of the same number. So the speed of the machine does not decide how far a
 * query gets, but the pages that it has room for do.
 *
 * Arguments: endpoint, stream, number of queries, number of records that the stream will have, and
 * of a page. Prints [[CrowdedSpark.Begun]] when every query has begun its first batch: the backlog
 * is written then, because a query that is alone may read all of it ahead. In the end prints the
 * records of each query after the batch in which the first one has read all, and then the records
 * of each query, its batches, and its ranges that were read again.
 */
object CrowdedSpark {
  val Begun = "begun"

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
  private val done = Vector.fill(count)(new AtomicLong)
  private val batches = Vector.fill(count)(new AtomicLong)
  private val atFirstEnd = new AtomicReference(Option.empty[Seq[Long]])

  private val rounds = new Phaser(count) {
    override protected def onAdvance(round: Int, registered: Int): Boolean = {
      if (round == 0) println(CrowdedSpark.Begun)
      // All have ended the batch before.
      if (done.exists(_.get == records)) atFirstEnd.compareAndSet(None, Some(done.map(_.get)))
      registered == 0
    }
  }

  def run(): Unit = {
    val queries = done.indices.map(start)
    while (!rounds.isTerminated && queries.forall(_.isActive)) Thread.sleep(50)
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
    batches(index).incrementAndGet()
    // A query without room for a page would stop the others for ever.
    rounds.awaitAdvanceInterruptibly(rounds.arrive(), 5, TimeUnit.MINUTES)
    if (done(index).addAndGet(frame.count()) == records) rounds.arriveAndDeregister(): Unit
  }
}
