package sparkkinesis.spark.write

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame

import sparkkinesis.simulator.fault.{Fault, FaultRule}

/** A task that fails and is run again: what each attempt did counts. */
class SinkAttemptsSparkSuite extends AnyFunSuite with SinkMetricsFixture {

  /** A request goes when it is full, and when the one before it was answered. */
  private val plain = Seq("linger" -> "1m", "maxInFlightRequests" -> "1")

  /**
   * The first attempt has sent two requests of 500 when it fails, and heard of the first. The other
   * has taken effect, and is never answered.
   */
  private def failingOnce(ids: DataFrame): DataFrame = {
    val second = FaultRule(
      Fault.Stalled(1.hour),
      Some("PutRecords"),
      times = Some(1),
      skip = 1
    )
    server.kinesis.script.add(second)
    stopping(ids, at = 1200, fails = true)(seen.recordsPut >= 1000)
  }

  private def ids: DataFrame = spark.range(0, 1500, 1, 1).toDF()

  /** @param rows of the second attempt */
  private def assertBothAttempts(told: String => Long, rows: Long): Unit = {
    assert(told("recordsWritten") === 500 + rows)
    assert(told("requests") === 2 + 3 && requestsSeen === 2 + 3)
    assert(told("sentRecords") === 1000 + rows && seen.recordsPut === 1000 + rows)
    assert(told("failedRequests") === 1 && told("unansweredRequests") === 1)
    assert(told("retriedRecords") === 0)
    assert(told("throttledRecords") === 0 && told("failedRecords") === 0)
  }

  test("a batch write counts the requests of the failed attempt too") {
    write(records(failingOnce(ids), "id"), plain: _*)
    eventually(assertBothAttempts(shown(_).toLong, rows = 1500))
  }

  test("a streaming query counts the requests of the failed attempt too") {
    val progress = streaming(failingOnce, plain: _*) { (source, drain) =>
      source.addData(0 until 1500)
      drain()
    }
    assertBothAttempts(name => progress.map(_(name).toLong).sum, rows = 1500)
  }

  test("dead letters count once, though both attempts have them") {
    val rows = records(failingOnce(ids), "id")
      .selectExpr("if(int(data) < 10, null, data) data", "partitionKey")
    write(rows, plain :+ ("deadLetterPath" -> newFolder().toString): _*)
    eventually(assert(shown("deadLetters") === "10"))
    assertBothAttempts(shown(_).toLong, rows = 1490)
  }
}
