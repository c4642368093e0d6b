package sparkkinesis.spark.write

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}
import org.scalatest.{Assertions, BeforeAndAfterEach, Suite}

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.MemoryStream
import org.apache.spark.sql.execution.ui.SQLExecutionUIData
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.{DataFrame, SQLContext, SparkSession}

import sparkkinesis.model.StreamName
import sparkkinesis.simulator.service.CallCounts
import sparkkinesis.spark.SparkFixture
import sparkkinesis.spark.metrics.WriteMetrics

/**
 * Writes rows. Returns the metrics that Spark shows of a write, and the calls that the server saw.
 */
trait SinkMetricsFixture extends SparkFixture with BeforeAndAfterEach with Eventually {
  this: Suite =>
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(50, Millis))

  override protected def sparkBuilder: SparkSession.Builder = super.sparkBuilder
    .master("local[2,3]")
    .config("spark.sql.shuffle.partitions", 2)
    .config("spark.executor.heartbeatInterval", "200ms") // updates the UI while tasks run

  override protected def beforeEach(): Unit = {
    server.kinesis.statistics.reset()
    server.kinesis.script.removeAll()
  }

  protected def seen: CallCounts = server.kinesis.statistics.snapshot
  protected def requestsSeen: Long = seen.calls.getOrElse("PutRecords", 0L)

  protected def numbers(count: Long, tasks: Int): DataFrame =
    records(spark.range(0, count, 1, tasks).toDF(), "id")

  protected def records(rows: DataFrame, column: String): DataFrame =
    rows.selectExpr(s"cast($column as string) data", s"concat('k', $column % 100) partitionKey")

  protected def write(rows: DataFrame, more: (String, String)*): Unit =
    writeTo(newStream(), rows, more: _*)

  protected def writeTo(stream: StreamName, rows: DataFrame, more: (String, String)*): Unit =
    rows.write.format("kinesis").options(options(stream) ++ more).mode("append").save()

  /** The metrics of the last write on the SQL page of the UI; empty until it is complete. */
  protected def shown: Map[String, String] =
    if (lastWrite.completionTime.isEmpty) Map.empty else values(lastWrite)

  /** The same while the write runs; empty afterwards. */
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

  /** At the row `at` the first attempt of the task waits for `until`, then fails if `fails`. */
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

  /** Runs a query of one task, and returns the sink's metrics in each progress. */
  protected def streaming(change: DataFrame => DataFrame, more: (String, String)*)(
      use: (MemoryStream[Int], () => Unit) => Unit
  ): Seq[Map[String, String]] = {
    import spark.implicits._
    implicit val sql: SQLContext = spark.sqlContext
    val source = MemoryStream[Int]
    val rows = change(source.toDF().coalesce(1).toDF("id"))
    val query = writing(records(rows, "id"), newStream(), more: _*).start()
    try use(source, () => query.processAllAvailable())
    finally query.stop()
    query.recentProgress.toSeq.map(_.sink.metrics.asScala.toMap)
  }
}

/** The conditions that tasks wait for. Tasks run in the JVM of the test. */
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
