package sparkkinesis.spark.write

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}
import org.scalatest.{Assertions, BeforeAndAfterAll, BeforeAndAfterEach, Suite}

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.MemoryStream
import org.apache.spark.sql.execution.ui.SQLExecutionUIData
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.{DataFrame, SQLContext, SparkSession}

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamName
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.fault.Faults
import sparkkinesis.simulator.service.{CallCounts, SimulatedKinesis}
import sparkkinesis.simulator.state.Settings
import sparkkinesis.spark.metrics.WriteMetrics

/** Writes to the local Kinesis, what Spark tells of them, and what the service saw. */
trait SinkMetricsFixture extends BeforeAndAfterAll with BeforeAndAfterEach with Eventually {
  this: Suite =>
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(50, Millis))

  private val streams = new AtomicInteger

  protected def faults: Faults = Faults.None

  protected lazy val server: KinesisServer =
    KinesisServer.start(kinesis = new SimulatedKinesis(SystemClock, Settings(), faults))
  protected lazy val spark: SparkSession = SparkSession
    .builder()
    .master("local[2,3]")
    .config("spark.ui.enabled", false)
    .config("spark.sql.shuffle.partitions", 2)
    .config("spark.executor.heartbeatInterval", "200ms") // tells the UI of tasks that run
    .getOrCreate()

  override protected def beforeEach(): Unit = {
    server.kinesis.statistics.reset()
    server.kinesis.script.removeAll()
  }

  override protected def afterAll(): Unit = {
    spark.stop()
    server.close()
  }

  protected def seen: CallCounts = server.kinesis.statistics.snapshot
  protected def requestsSeen: Long = seen.calls.getOrElse("PutRecords", 0L)

  /** So many shards that no test's rows, written twice, are held back. */
  protected def newStream(): StreamName = {
    val name = StreamName(s"out-${streams.incrementAndGet()}")
    server.kinesis.createStream(name, 4)
    name
  }

  private def options(stream: StreamName): Map[String, String] = Map(
    "streamName" -> stream.name,
    "region" -> SimulatedKinesis.Region,
    "endpoint" -> server.endpoint.toString,
    "awsAccessKeyId" -> "ID",
    "awsSecretAccessKey" -> "hush"
  )

  protected def numbers(count: Long, tasks: Int): DataFrame =
    records(spark.range(0, count, 1, tasks).toDF(), "id")

  protected def records(rows: DataFrame, column: String): DataFrame =
    rows.selectExpr(s"cast($column as string) data", s"concat('k', $column % 100) partitionKey")

  protected def write(rows: DataFrame, more: (String, String)*): Unit =
    writeTo(newStream(), rows, more: _*)

  protected def writeTo(stream: StreamName, rows: DataFrame, more: (String, String)*): Unit =
    rows.write.format("kinesis").options(options(stream) ++ more).mode("append").save()

  /** Of the last write, as the SQL page of the UI would show it; empty before all is there. */
  protected def shown: Map[String, String] =
    if (lastWrite.completionTime.isEmpty) Map.empty else values(lastWrite)

  /** The same while it runs, and empty afterwards. */
  protected def shownSoFar: Map[String, String] =
    if (lastWrite.completionTime.isEmpty) values(lastWrite) else Map.empty

  private def values(write: SQLExecutionUIData): Map[String, String] = {
    val values = spark.sharedState.statusStore.executionMetrics(write.executionId)
    write.metrics.flatMap(it => names.get(it.name).zip(values.get(it.accumulatorId))).toMap
  }

  private val names = WriteMetrics.all.map(it => it.description -> it.name).toMap

  private def lastWrite: SQLExecutionUIData = spark.sharedState.statusStore
    .executionsList()
    .filter(_.metrics.exists(it => names.contains(it.name)))
    .last

  /** At a row the task waits for `until`, and its first attempt fails then if that is asked for. */
  protected def stopping(
      rows: DataFrame,
      at: Long,
      fails: Boolean
  )(until: => Boolean): DataFrame = {
    val key = SinkMetricsFixture.hold(() => until)
    val stop = udf { (number: Long) =>
      if (number == at && TaskContext.get().attemptNumber() == 0) {
        SinkMetricsFixture.await(key)
        if (fails) throw new IllegalStateException("the first attempt fails")
      }
      number
    }
    rows.select(stop(rows(rows.columns.head).cast("long")).as("id"))
  }

  /** The sink's metrics in each progress of a query of one task. */
  protected def streaming(change: DataFrame => DataFrame, more: (String, String)*)(
      use: (MemoryStream[Int], () => Unit) => Unit
  ): Seq[Map[String, String]] = {
    import spark.implicits._
    implicit val sql: SQLContext = spark.sqlContext
    val source = MemoryStream[Int]
    val rows = change(source.toDF().coalesce(1).toDF("id"))
    val query = records(rows, "id").writeStream
      .format("kinesis")
      .options(options(newStream()) ++ more)
      .option("checkpointLocation", Files.createTempDirectory("sink-metrics").toString)
      .start()
    try use(source, () => query.processAllAvailable())
    finally query.stop()
    query.recentProgress.toSeq.map(_.sink.metrics.asScala.toMap)
  }
}

/** In the JVM of the tasks, which is the test's. */
object SinkMetricsFixture extends Eventually with Assertions {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(20, Millis))

  @volatile private var holds = Vector.empty[() => Boolean]

  private def hold(until: () => Boolean): Int = synchronized {
    holds :+= until
    holds.size - 1
  }

  private def await(hold: Int): Unit = eventually(assert(holds(hold)()))
}
