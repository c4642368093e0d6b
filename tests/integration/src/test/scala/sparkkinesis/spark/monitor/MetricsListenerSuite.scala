package sparkkinesis.spark.monitor

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import org.apache.spark.sparkkinesis.SparkMetricsSystem
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.client.{ShardFilter, ShardLister}
import sparkkinesis.model.{HashKey, StreamName, StreamRef}
import sparkkinesis.spark.SparkFixture

/** The metrics of queries in Spark's metrics system. */
class MetricsListenerSuite extends AnyFunSuite with SparkFixture with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(60, Seconds), interval = Span(0.1, Seconds))

  override protected def sparkBuilder: SparkSession.Builder = super.sparkBuilder
    .config("spark.sql.streaming.streamingQueryListeners", classOf[MetricsListener].getName)

  private def copy(from: StreamName, to: StreamName, name: String): StreamingQuery =
    spark.readStream
      .format("kinesis")
      .options(options(from, "startingPosition" -> "trim_horizon"))
      .load()
      .selectExpr("partitionKey", "data")
      .writeStream
      .queryName(name)
      .format("kinesis")
      .options(options(to))
      .option("checkpointLocation", newCheckpoint())
      .start()

  private def rows(stream: StreamName, count: Int): Unit = {
    val session = spark
    import session.implicits._
    (1 to count)
      .map(number => (s"key $number", s"row $number"))
      .toDF("partitionKey", "data")
      .write
      .format("kinesis")
      .options(options(stream))
      .mode("append")
      .save()
  }

  private def split(stream: StreamName): Unit = {
    val open =
      ShardLister.list(server.kinesis, StreamRef.ByName(stream), ShardFilter.AtLatest).shards.head
    val middle = (open.hashKeys.first.value + open.hashKeys.last.value) / 2
    server.kinesis.splitShard(stream, open.id, HashKey(middle))
  }

  test("a query publishes the metrics of its source and its sink until it ends") {
    val (from, to) = (newStream(2), newStream(1))
    rows(from, 30)
    val query = copy(from, to, "copy")
    def gauges = SparkMetricsSystem.gauges("spark_kinesis.copy")
    try
      eventually {
        val seen = gauges
        assert(seen.get("source.fetchedRecords") === Some(30L))
        assert(seen.get("source.openShards") === Some(2L))
        assert(seen.get(s"source.msBehindLatest.$from.shardId-000000000001") === Some(0L))
        assert(seen.contains("sink.recordsPerRequest"))
        assert(!seen.contains("sink.hottestShard"))
      }
    finally query.stop()
    eventually(assert(gauges.isEmpty))
  }

  test("a shard that is closed and read is not published any more") {
    val (from, to) = (newStream(1), newStream(1))
    val query = copy(from, to, "resharded")
    def shards = SparkMetricsSystem
      .gauges("spark_kinesis.resharded")
      .keySet
      .filter(_.startsWith("source.msBehindLatest."))
      .map(_.takeRight(2))
    try {
      rows(from, 5)
      eventually(assert(shards === Set("00")))
      split(from)
      rows(from, 5)
      eventually(assert(shards === Set("01", "02")))
    } finally query.stop()
  }

  test("other queries publish nothing") {
    val query = spark.readStream
      .format("rate")
      .load()
      .writeStream
      .queryName("rate")
      .format("noop")
      .option("checkpointLocation", newCheckpoint())
      .start()
    try {
      eventually(assert(query.recentProgress.nonEmpty))
      assert(SparkMetricsSystem.gauges("spark_kinesis.rate").isEmpty)
    } finally query.stop()
  }
}
