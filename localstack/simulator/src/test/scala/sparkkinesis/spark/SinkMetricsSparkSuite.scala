package sparkkinesis.spark

import java.nio.file.Files
import java.util.concurrent.atomic.{AtomicInteger, LongAdder}

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}
import org.scalatest.{BeforeAndAfterAll, BeforeAndAfterEach}

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.MemoryStream
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.{DataFrame, SQLContext, SparkSession}

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamName
import sparkkinesis.simulator._

/** What Spark tells of a write is what the service saw. */
class SinkMetricsSparkSuite
    extends AnyFunSuite
    with BeforeAndAfterAll
    with BeforeAndAfterEach
    with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(50, Millis))

  private val random = new Random(5)
  private val streams, turn = new AtomicInteger
  private val lost, lostEntries, refusedEntries = new LongAdder
  @volatile private var isMoody = false

  private val moods: Faults = {
    case PutRecords(_, entries) if isMoody => mood(entries.size)
    case _ => None
  }
  private lazy val server =
    KinesisServer.start(kinesis = new SimulatedKinesis(SystemClock, Settings(), moods))
  private lazy val spark = SparkSession
    .builder()
    .master("local[2,3]")
    .config("spark.ui.enabled", false)
    .config("spark.sql.shuffle.partitions", 2)
    .getOrCreate()
  implicit private def sql: SQLContext = spark.sqlContext

  override protected def beforeEach(): Unit = {
    server.kinesis.statistics.reset()
    Seq(lost, lostEntries, refusedEntries).foreach(_.reset())
    turn.set(0)
    isMoody = false
  }

  override protected def afterAll(): Unit = {
    spark.stop()
    server.close()
  }

  /** Each twice, early: a sink that is throttled goes slowly for some time. */
  private def mood(entries: Int): Option[Fault] =
    turn.getAndIncrement() match {
      case 0 | 4 =>
        refusedEntries.add(entries.toLong)
        Some(Fault.Throttled)
      case 1 | 5 =>
        lost.increment()
        lostEntries.add(entries.toLong)
        Some(Fault.AnswerLost)
      case 2 | 6 => Some(Fault.PartialPut.half(random))
      case _ => None
    }

  private def seen: CallCounts = server.kinesis.statistics.snapshot
  private def requestsSeen: Long = seen.calls.getOrElse("PutRecords", 0L)

  private def options(): Map[String, String] = {
    val name = StreamName(s"out-${streams.incrementAndGet()}")
    server.kinesis.createStream(name, 2)
    Map(
      "streamName" -> name.name,
      "region" -> SimulatedKinesis.Region,
      "endpoint" -> server.endpoint.toString,
      "awsAccessKeyId" -> "ID",
      "awsSecretAccessKey" -> "hush"
    )
  }

  private def numbers(count: Long, tasks: Int): DataFrame =
    records(spark.range(0, count, 1, tasks).toDF(), "id")

  private def records(rows: DataFrame, column: String): DataFrame =
    rows.selectExpr(s"cast($column as string) data", s"concat('k', $column % 100) partitionKey")

  private def write(rows: DataFrame, more: (String, String)*): Unit =
    rows.write.format("kinesis").options(options() ++ more).mode("append").save()

  /** Of the last write, as the SQL page of the UI would show it; empty before all is there. */
  private def shown: Map[String, String] = {
    val store = spark.sharedState.statusStore
    val names = WriteMetrics.all.map(it => it.description -> it.name).toMap
    val last = store.executionsList().filter(_.metrics.exists(it => names.contains(it.name))).last
    val values = store.executionMetrics(last.executionId)
    val found = last.metrics.flatMap { it =>
      names.get(it.name).zip(values.get(it.accumulatorId))
    }
    if (last.completionTime.isEmpty) Map.empty else found.toMap
  }

  /** After a write in which some requests failed, and no task. */
  private def assertAll(told: String => Long, rows: Long): Unit = {
    val server = seen
    assert(told("recordsWritten") === rows)
    assert(told("requests") === requestsSeen)
    assert(told("sentRecords") === server.recordsPut + server.entriesFailed + refusedEntries.sum)
    assert(told("throttledRecords") === server.entriesFailed + refusedEntries.sum)
    assert(told("retriedRecords") === told("sentRecords") - rows)
    assert(told("unansweredRequests") === lost.sum)
    val refusals = server.refused.getOrElse("PutRecords", Map.empty).values.sum
    assert(told("failedRequests") === lost.sum + refusals)
    assert(server.recordsPut === rows + lostEntries.sum)
    assert(told("failedRecords") === 0 && told("misplacedAggregates") === 0)
  }

  test("a batch write, in the UI: sums over tasks are what the server saw") {
    write(numbers(3000, tasks = 2))
    eventually(assert(shown.size === WriteMetrics.all.length))
    assertAll(shown(_).toLong, rows = 3000)
    assert(shown("bytesWritten").toLong === seen.bytesPut && requestsSeen >= 6)
    val mean = shown("sentRecords").toDouble / requestsSeen
    assert(math.abs(shown("recordsPerRequest").toDouble - mean) <= 0.051)
    assert(shown("peakBufferedBytes").toLong > 0 && shown("peakRequestsInFlight").toLong > 0)
  }

  test("the same while requests are throttled, in part or whole, or not answered") {
    isMoody = true
    write(numbers(2400, tasks = 3))
    eventually(assert(shown("requests").toLong === requestsSeen))
    assertAll(shown(_).toLong, rows = 2400)
    assert(lost.sum > 0 && refusedEntries.sum > 0 && seen.entriesFailed > 0)
  }

  test("a batch write with a task that fails and is run again: both attempts count") {
    write(records(failingOnce(numbers(1000, tasks = 1)), "id"))
    eventually(assertBothAttempts(shown(_).toLong))
  }

  test("dead letters count once, though a first attempt met them, too") {
    val rows = records(failingOnce(numbers(1000, tasks = 1)), "id")
      .selectExpr("if(int(data) < 10, null, data) data", "partitionKey")
    write(rows, "deadLetterPath" -> Files.createTempDirectory("letters").toString)
    eventually(assert(shown("deadLetters") === "10" && shown("sentRecords").toLong >= 1490))
  }

  test("streaming: each progress tells of its batch, together what the server saw") {
    isMoody = true
    val (batches, perBatch) = (4, 1000)
    val progress = streaming(identity)((source, drain) =>
      (0 until batches).foreach { batch =>
        source.addData(batch * perBatch until (batch + 1) * perBatch)
        drain()
      }
    )
    val busy = progress.filter(_("requests").toLong > 0)
    assert(busy.map(_("recordsWritten").toLong) === Seq.fill(batches)(perBatch.toLong))
    assertAll(name => progress.map(_(name).toLong).sum, rows = (batches * perBatch).toLong)
    assert(lost.sum > 0 && refusedEntries.sum > 0 && seen.entriesFailed > 0)
    busy.foreach { told =>
      val mean = told("sentRecords").toDouble / told("requests").toDouble
      assert(math.abs(told("recordsPerRequest").toDouble - mean) <= 0.051)
      assert(told("p99RequestMs").toLong >= 0 && told("peakRequestsInFlight").toLong >= 1)
    }
  }

  test("streaming, with a task that fails and is run again: both attempts count") {
    val progress = streaming(failingOnce) { (source, drain) =>
      source.addData(0 until 1000)
      drain()
    }
    assertBothAttempts(name => progress.map(_(name).toLong).sum)
  }

  /** What was in flight when the first attempt failed may have reached the server, or not. */
  private def assertBothAttempts(told: String => Long): Unit = {
    val unanswered = told("unansweredRequests")
    assert(seen.recordsPut >= 1500 && told("recordsWritten") >= 1000)
    assert(told("recordsWritten") <= seen.recordsPut)
    assert(told("requests") >= requestsSeen && told("requests") - unanswered <= requestsSeen)
    assert(told("sentRecords") >= seen.recordsPut && told("sentRecords") >= 1500)
    assert(told("sentRecords") - 500 * unanswered <= seen.recordsPut)
  }

  /** The first attempt fails at a row behind those of a full request, when that has arrived. */
  private def failingOnce(rows: DataFrame): DataFrame = {
    val key = SinkMetricsSparkSuite.hold(() => seen.recordsPut >= 500)
    val at = udf { (number: Long) =>
      if (number == 900 && TaskContext.get().attemptNumber() == 0) {
        SinkMetricsSparkSuite.await(key)
        throw new IllegalStateException("the first attempt fails")
      }
      number
    }
    val column = rows.columns.head
    rows.select(at(rows(column).cast("long")).as("id"))
  }

  /** The sink's metrics in each progress of a query. */
  private def streaming(
      change: DataFrame => DataFrame
  )(use: (MemoryStream[Int], () => Unit) => Unit): Seq[Map[String, String]] = {
    import spark.implicits._
    val source = MemoryStream[Int]
    val rows = change(source.toDF().coalesce(1).toDF("id"))
    val query = records(rows, "id").writeStream
      .format("kinesis")
      .options(options())
      .option("checkpointLocation", Files.createTempDirectory("sink-metrics").toString)
      .start()
    try use(source, () => query.processAllAvailable())
    finally query.stop()
    query.recentProgress.toSeq.map(_.sink.metrics.asScala.toMap)
  }
}

/** In the JVM of the tasks, which is the test's. */
object SinkMetricsSparkSuite extends Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(20, Millis))

  @volatile private var holds = Vector.empty[() => Boolean]

  private def hold(until: () => Boolean): Int = synchronized {
    holds :+= until
    holds.size - 1
  }

  private def await(hold: Int): Unit = eventually(assert(holds(hold)()))
}
