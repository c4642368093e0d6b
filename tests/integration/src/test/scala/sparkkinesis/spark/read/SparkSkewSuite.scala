package sparkkinesis.spark.read

import scala.collection.mutable
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.functions.{col, window}
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.client.{Clock, ShardFilter, ShardLister, SystemClock}
import sparkkinesis.model.{HashKey, PutEntry, StreamName, StreamRef}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.spark.SparkFixture

/**
 * Counts per window of the event time, with a watermark, over an uneven backlog with a split in the
 * middle: exact if the shards advance together, and wrong otherwise.
 */
class SparkSkewSuite extends AnyFunSuite with SparkFixture {
  private val rounds = 12
  private val step = 10.minutes

  /** A service that is now in the past. The backlog takes it to the present. */
  private object PastClock extends Clock {
    override def now: java.time.Instant =
      SystemClock.now.minusMillis((step * rounds.toLong).toMillis)
    override def sleep(duration: FiniteDuration): Unit = SystemClock.sleep(duration)
  }

  override protected def newKinesis(): SimulatedKinesis = new SimulatedKinesis(PastClock)

  override protected def sparkBuilder: SparkSession.Builder =
    super.sparkBuilder.config("spark.sql.shuffle.partitions", 1)

  private val name = StreamName("uneven")
  private val (busy, quiet) = (HashKey(BigInt(0)), HashKey.Max)
  private val perRound = 40

  private lazy val written: Int = {
    server.kinesis.createStream(name, 2)
    for (round <- 0 until rounds) {
      (1 to perRound).foreach(_ => put(busy))
      put(quiet)
      if (round == rounds / 2) splitBusy()
      server.kinesis.advance(step)
    }
    rounds * (perRound + 1)
  }

  private def put(key: HashKey): Unit =
    server.kinesis.putRecord(name, PutEntry("k", Array(1), Some(key))): Unit

  private def splitBusy(): Unit = {
    val open = ShardLister.list(server.kinesis, StreamRef.ByName(name), ShardFilter.AtLatest)
    val shard = open.shards.minBy(_.hashKeys.first)
    server.kinesis.splitShard(name, shard.id, HashKey(shard.hashKeys.last.value / 2))
  }

  /** The sum of the counts of all windows. */
  private def counted(options: Map[String, String]): Long = {
    val windows = mutable.Map.empty[String, Long]
    val limits = Seq("minFetchPeriod" -> "10ms", "maxRecordsPerTrigger" -> s"$perRound")
    val query = readAll(name, limits ++ options: _*)
      .withWatermark("approximateArrivalTimestamp", "20 minutes")
      .groupBy(window(col("approximateArrivalTimestamp"), "10 minutes"))
      .count()
      .writeStream
      .outputMode("update")
      .option("checkpointLocation", newCheckpoint())
      .trigger(Trigger.AvailableNow())
      .foreachBatch { (frame: DataFrame, _: Long) =>
        frame.collect().foreach(row => windows(row.get(0).toString) = row.getLong(1))
      }
      .start()
    try assert(query.awaitTermination(180000L))
    finally query.stop()
    windows.values.sum
  }

  test("the windows of a query with a watermark are exact, and not if its shards run free") {
    val all = written
    assert(counted(Map.empty) === all)
    assert(counted(Map("maxShardSkew" -> "none")) < all)
  }
}
