package sparkkinesis.spark.metrics

import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.sink.FastClock
import sparkkinesis.sink.metrics._
import sparkkinesis.spark.{LocalSpark, LogTap}

class WriteReportsSuite extends AnyFunSuite with LocalSpark {

  /** One of two tasks that write 9,000 records of one key to one of four shards, in ten seconds. */
  private def report(stream: String): Array[Byte] = {
    val shard = ShardTraffic(stream, "s1", 4, 4500, 45000, 9000, 10000)
    val counts =
      SinkCounter.all.map(it => if (it == SinkCounter.KinesisRecordsWritten) 4500L else 0L)
    val metrics = SinkMetrics.Zero.copy(
      counts = counts,
      shards = Vector(shard)
    )
    TaskReport(WriteCounts(metrics, 0), isCommitted = true).toBytes
  }

  private def warnings(body: => Any): Seq[String] =
    LogTap.of(classOf[HotShardLog])(body).map(_.getMessage.getFormattedMessage.takeWhile(_ != '.'))

  private def warning(stream: String) =
    s"Shard s1 of stream $stream limits the write: a task waited 9 s for it, and it received 100 " +
      "% of what was written to 4 shards"

  private def batch(reports: WriteReports, stream: String): Unit = {
    val batch = reports.begin(context)
    (1 to 2).foreach(_ => batch.add(report(stream)))
    assert(reports.news().size === 2)
  }

  test("a query warns of a hot shard, from the reports of all tasks of a batch") {
    val reports = new WriteReports(new HotShardLog(new FastClock))
    assert(warnings((1 to 3).foreach(_ => batch(reports, "orders"))) === Seq(warning("orders")))
  }

  test("batches of foreachBatch, each a write of its own, warn once per stream and ten minutes") {
    val clock = new FastClock
    val log = new HotShardLog(clock)
    def write(stream: String): Unit = batch(new WriteReports(log), stream)
    val both = warnings(Seq("orders", "totals", "orders").foreach(write))
    assert(both === Seq("orders", "totals").map(warning))
    clock.pass(9.minutes)
    assert(warnings(write("orders")) === Nil)
    clock.pass(1.minute)
    assert(warnings(write("orders")) === Seq(warning("orders")))
  }
}
