package sparkkinesis.spark.write

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, LongAdder}

import scala.concurrent.ExecutionContext.global
import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import sparkkinesis.model.aggregate.UserRecords
import sparkkinesis.model.{HashKey, PutEntry}
import sparkkinesis.simulator.fault.{Fault, Faults}
import sparkkinesis.simulator.operation.PutRecords
import sparkkinesis.simulator.sdk.Arrived
import sparkkinesis.spark.metrics.WriteMetrics

/** The metrics of a write in Spark equal the counts of the server. */
class SinkMetricsSparkSuite extends AnyFunSuite with SinkMetricsFixture {
  private val random = new Random(5)
  private val turn = new AtomicInteger
  private val lost, lostEntries, refusedEntries = new LongAdder
  @volatile private var isMoody = false

  override protected def faults: Faults = {
    case PutRecords(_, entries) if isMoody => mood(entries.size)
    case _ => None
  }

  override protected def beforeEach(): Unit = {
    super.beforeEach()
    Seq(lost, lostEntries, refusedEntries).foreach(_.reset())
    turn.set(0)
    isMoody = false
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

  /** Kinesis records that the sink knows to be written. */
  private def acknowledged: Long = seen.recordsPut - lostEntries.sum

  /** After a write in which some requests failed, and no task. */
  private def assertAll(told: String => Long, rows: Long): Unit = {
    val server = seen
    assert(told("recordsWritten") === rows && told("kinesisRecordsWritten") === acknowledged)
    assert(told("requests") === requestsSeen)
    assert(told("sentRecords") === server.recordsPut + server.entriesFailed + refusedEntries.sum)
    assert(told("throttledRecords") === server.entriesFailed + refusedEntries.sum)
    assert(told("retriedRecords") === told("sentRecords") - acknowledged)
    assert(told("unansweredRequests") === lost.sum)
    val refusals = server.refused.getOrElse("PutRecords", Map.empty).values.sum
    assert(told("failedRequests") === lost.sum + refusals)
    assert(told("failedRecords") === 0 && told("misplacedAggregates") === 0)
  }

  private def assertMoody(): Unit =
    assert(lost.sum > 0 && refusedEntries.sum > 0 && seen.entriesFailed > 0)

  test("in the UI the metrics of a batch write equal the counts of the server") {
    write(numbers(3000, tasks = 2))
    eventually(assert(shown.size === WriteMetrics.all.length))
    assertAll(shown(_).toLong, rows = 3000)
    assert(acknowledged === 3000)
    assert(shown("bytesWritten").toLong === seen.bytesPut && requestsSeen >= 6)
    assert(shown("kinesisBytesWritten").toLong === seen.bytesPut)
    assert(shown("peakBufferedBytes").toLong > 0 && shown("peakRequestsInFlight").toLong > 0)
  }

  test("the metrics equal the counts of the server while requests are throttled or not answered") {
    isMoody = true
    write(numbers(2400, tasks = 3))
    eventually(assert(shown("requests").toLong === requestsSeen))
    assertAll(shown(_).toLong, rows = 2400)
    assert(acknowledged === 2400)
    assertMoody()
  }

  Seq(false, true).foreach { moody =>
    val how = if (moody) ", while requests fail" else ""
    test(s"with aggregation rows are counted as written, Kinesis records as sent$how") {
      isMoody = moody
      val stream = newStream()
      val rows = numbers(3000, tasks = 3)
      writeTo(stream, rows, "aggregation" -> "kpl", "maxAggregateRecords" -> "20")
      eventually(assert(shown("requests").toLong === requestsSeen))
      assertAll(shown(_).toLong, rows = 3000)
      assert(acknowledged >= 3000 / 20 && acknowledged < 3000 / 10)
      val found = Arrived.records(server.kinesis, stream).flatMap { record =>
        val anyHashKey = Some(HashKey(0)) // which a reader is not told
        UserRecords.of(PutEntry(record.partitionKey.get, record.data, anyHashKey))
      }
      assert(found.map(it => new String(it.data).toInt).distinct.sorted === (0 until 3000))
      val bytes = (0 until 3000).map(it => s"${it}k${it % 100}".length.toLong).sum
      assert(shown("bytesWritten").toLong === bytes && seen.bytesPut != bytes)
      if (moody) assertMoody()
      else assert(found.size === 3000 && shown("kinesisBytesWritten").toLong === seen.bytesPut)
    }
  }

  test(
    "each progress of a stream has the metrics of its batch, and their sum is that of the server"
  ) {
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
    assert(acknowledged === batches * perBatch)
    assertMoody()
    busy.foreach { told =>
      val mean = told("sentRecords").toDouble / told("requests").toDouble
      assert(math.abs(told("recordsPerRequest").toDouble - mean) <= 0.051)
      assert(told("p99RequestMs").toLong >= 0 && told("peakRequestsInFlight").toLong >= 1)
    }
  }

  test("the UI shows the counts of a task while it runs") {
    val released = new AtomicBoolean
    val ids = spark.range(0, 1500, 1, 1).toDF()
    val rows = records(stopping(ids, at = 1300, fails = false)(released.get), "id")
    val writing = Future(write(rows, "linger" -> "1m", "maxInFlightRequests" -> "1"))(global)
    try
      eventually {
        val now = shownSoFar
        assert(now.get("sentRecords").contains("1000") && now("recordsWritten").toLong >= 500)
        assert(!writing.isCompleted)
      }
    finally released.set(true)
    Await.result(writing, 1.minute)
    eventually(assert(shown("recordsWritten") === "1500"))
  }
}
