package sparkkinesis.spark.monitor

import java.util.concurrent.CountDownLatch

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import org.apache.spark.sparkkinesis.SparkMetricsSystem
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.client.{ShardFilter, ShardLister}
import sparkkinesis.model.{HashKey, StreamName, StreamRef}
import sparkkinesis.simulator.fault.{Fault, Faults}
import sparkkinesis.simulator.operation.GetRecords
import sparkkinesis.spark.SparkFixture

/** The metrics of queries in Spark's metrics system. */
class MetricsListenerSuite extends AnyFunSuite with SparkFixture with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(60, Seconds), interval = Span(0.1, Seconds))

  @volatile private var areRefused = false // reads of the first shard of each stream

  override protected def faults: Faults = {
    case read: GetRecords if areRefused && read.subject.shard.exists(_.name.endsWith("0")) =>
      Some(Fault.Throttled)
    case _ => None
  }

  override protected def sparkBuilder: SparkSession.Builder = super.sparkBuilder
    .config("spark.sql.streaming.streamingQueryListeners", classOf[MetricsListener].getName)

  private def copy(from: StreamName, to: StreamName, name: String): StreamingQuery =
    writing(readAll(from).selectExpr("partitionKey", "data"), to).queryName(name).start()

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

  /** A query whose batches last until the latch opens. */
  private def held(stream: StreamName, name: String, open: CountDownLatch): StreamingQuery =
    readAll(stream).writeStream
      .queryName(name)
      .foreachBatch((_: DataFrame, _: Long) => open.await())
      .option("checkpointLocation", newCheckpoint())
      .start()

  private def lag(query: String): Option[Any] =
    SparkMetricsSystem.gauges(s"spark_kinesis.$query").get("source.maxProcessingLagMs")

  private def isLate(query: String, millis: Long): Boolean = lag(query).exists {
    case late: Long => late > millis
    case _ => false
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
        assert(seen.get(s"source.processingLagMs.$from.shardId-000000000001") === Some(0L))
        assert(seen.contains("sink.recordsPerRequest"))
        assert(!seen.contains("sink.hottestShard"))
      }
    finally query.stop()
    eventually(assert(gauges.isEmpty))
  }

  test("while a slow sink holds the first batch, the lag rises, before there is a progress") {
    val (from, open) = (newStream(2), new CountDownLatch(1))
    rows(from, 10)
    val query = held(from, "held", open)
    try {
      eventually(assert(isLate("held", 3000)))
      assert(query.lastProgress == null)
      open.countDown()
      eventually(assert(query.lastProgress != null && lag("held") === Some(0L)))
    } finally {
      open.countDown()
      query.stop()
    }
    eventually(assert(lag("held") === None))
  }

  test("while the reads of a shard are refused, the lag rises") {
    val from = newStream(2)
    rows(from, 10)
    val query = held(from, "refused", new CountDownLatch(0))
    try {
      eventually(assert(query.lastProgress != null && lag("refused") === Some(0L)))
      areRefused = true
      eventually(assert(isLate("refused", 5000)))
      areRefused = false
      eventually(assert(lag("refused") === Some(0L)))
    } finally {
      areRefused = false
      query.stop()
    }
  }

  test("a shard that is closed and read is not published any more") {
    val (from, to) = (newStream(1), newStream(1))
    val query = copy(from, to, "resharded")
    def shards = SparkMetricsSystem
      .gauges("spark_kinesis.resharded")
      .keySet
      .filter(_.startsWith("source.processingLagMs."))
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
