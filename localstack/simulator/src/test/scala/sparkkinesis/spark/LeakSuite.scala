package sparkkinesis.spark

import java.lang.management.ManagementFactory
import java.nio.file.Files
import java.util.concurrent.atomic.AtomicLong
import java.util.{Map => JMap}
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import org.scalatest.BeforeAndAfterAll
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import org.apache.spark.SparkEnv
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.client.aws.ClientPool
import sparkkinesis.model._
import sparkkinesis.simulator._

/** What a query leaves behind, batch by batch and run by run: nothing. */
class LeakSuite extends AnyFunSuite with BeforeAndAfterAll with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(180, Seconds), Span(2, Millis))

  private lazy val server = KinesisServer.start()
  private lazy val spark = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.ui.enabled", false)
    // Spark's own memory of what has been, small enough to be full from the start.
    .config("spark.ui.retainedJobs", 5)
    .config("spark.ui.retainedStages", 5)
    .config("spark.ui.retainedTasks", 20)
    .config("spark.sql.ui.retainedExecutions", 5)
    .config("spark.sql.streaming.numRecentProgressUpdates", 2)
    .config("spark.sql.streaming.minBatchesToRetain", 2)
    .config(
      "spark.sql.streaming.checkpointFileManagerClass",
      "org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager"
    )
    .getOrCreate()

  override protected def afterAll(): Unit = {
    spark.stop()
    server.close()
  }

  private class Fixture(name: String) {
    private val stream = StreamName(name)
    spark.streams // begins with the fixture
    server.kinesis.createStream(stream, 2)
    private val checkpoint = Files.createTempDirectory("leaks").toString
    private val seen = new AtomicLong // the newest record that arrived
    private var put = 0L

    def start(): StreamingQuery = spark.readStream
      .format("kinesis")
      .option("streamName", name)
      .option("region", SimulatedKinesis.Region)
      .option("endpoint", server.endpoint.toString)
      .option("awsAccessKeyId", "ID")
      .option("awsSecretAccessKey", "hush")
      .option("startingPosition", "trim_horizon")
      .option("minFetchPeriod", "1ms")
      .option("idleFetchPeriod", "5ms")
      .load()
      .writeStream
      .option("checkpointLocation", checkpoint)
      .foreachBatch { (frame: DataFrame, _: Long) =>
        val numbers = frame.selectExpr("cast(string(data) as long)").collect().map(_.getLong(0))
        numbers.foreach(seen.accumulateAndGet(_, math.max(_, _)))
      }
      .start()

    /** One record, and the batch that brings it. */
    def runBatch(query: StreamingQuery): Unit = {
      put += 1
      server.kinesis.putRecord(stream, PutEntry(s"k$put", s"$put".getBytes, None))
      eventually(assert(seen.get >= put || !query.isActive))
      query.exception.foreach(throw _)
    }
  }

  private def liveHeap: Long = {
    (1 to 3).foreach(_ => System.gc())
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }

  /** Live objects of the connector's own classes, by class. */
  private def objects: Map[String, Int] = {
    val said = ManagementFactory.getPlatformMBeanServer.invoke(
      new ObjectName("com.sun.management:type=DiagnosticCommand"),
      "gcClassHistogram",
      Array[AnyRef](Array.empty[String]),
      Array("[Ljava.lang.String;")
    )
    said.toString.linesIterator
      .map(_.trim.split("\\s+"))
      .collect { case Array(_, count, _, name, _*) if isOurs(name) => name -> count.toInt }
      .toMap
  }

  private def isOurs(name: String): Boolean =
    Seq("spark", "source", "model", "client").exists(p => name.startsWith(s"sparkkinesis.$p."))

  private def more(now: Map[String, Int], before: Map[String, Int]): Map[String, Int] =
    now.map { case (name, count) => name -> (count - before.getOrElse(name, 0)) }

  /** Of ours and of the libraries we bring, by name without its numbers. */
  private def threads: Map[String, Int] = Thread.getAllStackTraces.keySet.asScala.toSeq
    .map(_.getName.replaceAll("\\d+", "N"))
    .filter(name => Seq("spark-kinesis", "sdk-", "idle-connection", "sts").exists(name.contains))
    .groupBy(identity)
    .map { case (name, all) => name -> all.size }

  /** Fewer may be left: idle clients of suites before this one are closed meanwhile, by a thread of its own. */
  private def moreThreads(before: Map[String, Int]): Map[String, Int] =
    more(threads, before).filter(_._2 > 0) - "spark-kinesis-idle-clients"

  private def endpoints: Int = {
    def member(of: AnyRef, name: String): AnyRef = {
      val field = of.getClass.getDeclaredField(name)
      field.setAccessible(true)
      field.get(of)
    }
    val rpc = classOf[SparkEnv].getMethod("rpcEnv").invoke(SparkEnv.get)
    member(member(rpc, "dispatcher"), "endpoints") match {
      case all: JMap[_, _] => all.size
      case other => fail(s"not a map: $other")
    }
  }

  private def progress(query: StreamingQuery, name: String): Long =
    query.lastProgress.sources.head.metrics.get(name).toLong

  private def assertNothingLeft(): Unit = {
    assert(FetchRun.count === 0)
    assert(ClientPool.shared.leases === 0)
    assert(spark.sparkContext.getPersistentRDDs.isEmpty)
    assert(spark.sparkContext.statusTracker.getActiveJobIds().isEmpty)
  }

  test("a thousand batches: neither threads nor endpoints nor pages nor heap") {
    val fixture = new Fixture("many-batches")
    val before = endpoints
    val query = fixture.start()
    try {
      (1 to 300).foreach(_ => fixture.runBatch(query))
      val (heap, held, ours, open) = (liveHeap, objects, threads, endpoints)
      (1 to 1000).foreach(_ => fixture.runBatch(query))
      val grown = liveHeap - heap
      info(s"$grown bytes in a thousand batches; ${query.lastProgress.batchId} batches in all")
      assert(more(objects, held).filter(_._2 >= 500) === Map.empty)
      assert(query.lastProgress.batchId > 1000)
      assert(moreThreads(ours) === Map.empty && endpoints === open && FetchRun.count === 1)
      assert(progress(query, "bufferedBytes") < 10000, "a batch's pages go with the next")
      assert(grown < 1000 * 4096, "bytes that stay of a batch, the last pages of Spark's included")
    } finally query.stop()
    eventually(assertNothingLeft())
    eventually(assert(endpoints <= before + StatesAndCommits))
  }

  test("fifty runs of a query: neither threads nor endpoints nor pages nor clients") {
    val fixture = new Fixture("many-runs")
    def run(): Unit = {
      val query = fixture.start()
      try fixture.runBatch(query)
      finally query.stop()
      assert(!query.isActive)
    }
    (1 to 3).foreach(_ => run())
    eventually(assertNothingLeft())
    val (heap, held, ours, open) = (liveHeap, objects, threads, endpoints)
    assert(held.contains(classOf[ClientPool].getName), "it sees objects")
    (1 to 50).foreach(_ => run())
    eventually(assertNothingLeft())
    eventually(assert(moreThreads(ours) === Map.empty && endpoints === open))
    val grown = liveHeap - heap
    info(s"$grown bytes in fifty runs; threads: $ours")
    assert(more(objects, held).filter(_._2 >= 25) === Map.empty)
    assert(grown < 50 * 500000, "most of it Spark's own, of sessions and plans")
  }

  /** What Spark sets up with its first streaming query, for good. */
  private val StatesAndCommits = 2
}
