package sparkkinesis.spark.write

import java.util.concurrent.atomic.AtomicBoolean

import org.scalatest.concurrent.Eventually._
import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import org.apache.spark.sql.execution.streaming.MemoryStream
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.{DataFrame, SQLContext}

import sparkkinesis.model.StreamName
import sparkkinesis.simulator.fault.{Fault, Faults}
import sparkkinesis.simulator.operation.PutRecords
import sparkkinesis.simulator.sdk.Arrived
import sparkkinesis.spark.SparkFixture

/** The sink in Spark, batch and streaming, over HTTP to the local Kinesis. */
class SparkSinkSuite extends AnyFunSuite with SparkFixture {
  private val busy = new AtomicBoolean
  private val soon = Timeout(Span(30, Seconds))

  override protected val faults: Faults = {
    case _: PutRecords if busy.get => Some(Fault.Throttled)
    case _ => None
  }
  implicit private def sql: SQLContext = spark.sqlContext

  private def arrived(name: StreamName): Seq[String] = Arrived.texts(server.kinesis, name)

  private def numbers(count: Int): DataFrame = spark
    .range(count.toLong)
    .selectExpr("cast(id as string) as data", "concat('k', id % 10) as partitionKey")

  private def input(): (MemoryStream[Int], DataFrame) = {
    import spark.implicits._
    val source = MemoryStream[Int]
    (source, source.toDF().selectExpr("cast(value as string) data", "'k' partitionKey"))
  }

  test("all rows of a batch write arrive once") {
    val stream = newStream()
    numbers(3000).write.format("kinesis").options(options(stream)).mode("append").save()
    assert(arrived(stream).map(_.toInt).sorted === (0 until 3000))
  }

  test("a batch of a streaming write is done when its rows have arrived, in append and update") {
    Seq("append", "update").foreach { mode =>
      val stream = newStream()
      val (source, rows) = input()
      val query = writing(rows, stream).outputMode(mode).start()
      try {
        source.addData(1 to 100)
        query.processAllAvailable()
        assert(arrived(stream).map(_.toInt).sorted === (1 to 100))
        source.addData(101 to 150)
        query.processAllAvailable()
        assert(arrived(stream).map(_.toInt).sorted === (1 to 150))
      } finally query.stop()
    }
  }

  test("a bad row fails the query, and the error has row, column and reason") {
    val stream = newStream()
    val rows =
      numbers(5).selectExpr("if(partitionKey = 'k3', null, data) data", "partitionKey")
    val e = failure(rows, stream)
    assert(e.contains("[KINESIS_INVALID_ROW] Row "))
    assert(e.contains(s"cannot go to stream $stream: column 'data' is null"))
  }

  test("invalid options and columns are refused, and no message has the secret") {
    val stream = newStream()
    assert(failure(numbers(1), stream, "deliverTimeout" -> "1s").contains("KINESIS_UNKNOWN_OPTION"))
    assert(failure(numbers(1).drop("data"), stream).contains("KINESIS_INVALID_SCHEMA"))
    val missing = failure(numbers(1), StreamName("no-such-stream"))
    assert(missing.contains("[KINESIS_STREAM_NOT_FOUND]"))
    assert(missing.contains("no-such-stream") && missing.contains(server.endpoint.toString))
    assert(!missing.contains("hush"))
  }

  test("the error of a streaming query names the condition too") {
    val (source, rows) = input()
    val query = writing(rows, StreamName("no-such-stream")).start()
    source.addData(1)
    val e = intercept[StreamingQueryException](query.processAllAvailable())
    assert(e.getMessage.contains("[KINESIS_STREAM_NOT_FOUND]"))
  }

  test("a query that cannot write stops at once when stopped, and leaves no thread behind") {
    val stream = newStream()
    val (source, rows) = input()
    busy.set(true)
    try {
      val query = writing(rows, stream).start()
      source.addData(1 to 1000)
      eventually(soon)(assert(writerThreads > 0))
      query.stop()
      assert(!query.isActive)
      eventually(soon)(assert(writerThreads === 0))
    } finally busy.set(false)
  }

  private def writerThreads: Int = {
    import scala.jdk.CollectionConverters._
    Thread.getAllStackTraces.keySet.asScala.count(_.getName.startsWith("spark-kinesis-writer"))
  }

  /** The messages of the failure and of all its causes. */
  private def failure(rows: DataFrame, stream: StreamName, more: (String, String)*): String = {
    val e = intercept[Exception] {
      rows.write.format("kinesis").options(options(stream) ++ more).mode("append").save()
    }
    Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).mkString("\n")
  }
}
