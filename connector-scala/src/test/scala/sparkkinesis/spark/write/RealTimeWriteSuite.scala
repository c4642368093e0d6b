package sparkkinesis.spark.write

import java.time.Instant
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.scalatest.concurrent.Eventually._
import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{BinaryType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.client._
import sparkkinesis.client.options.{OptionException, Options}
import sparkkinesis.model._
import sparkkinesis.sink.{FakeKinesis, FastClock, SinkOptions, SinkTable}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.realtime.RealTimeMode

/** A task in real-time mode: its next row may be minutes away. */
class RealTimeWriteSuite extends AnyFunSuite {
  private val stream = StreamRef.ByName(StreamName("orders"))
  private val config = ClientConfig(
    "eu-west-1",
    None,
    CredentialsConfig(CredentialsSource.Static("ID", "hush", None), None)
  )
  private val summary = StreamSummary(
    StreamArn.parse("arn:aws:kinesis:eu-west-1:123456789012:stream/orders").get,
    StreamStatus.Active,
    Instant.EPOCH,
    24.hours,
    1,
    ServiceLimits.RecordBytes
  )
  private val denying = new FakeKinesis((_, _) => throw new KinesisException.AccessDenied("no"))
  private val soon = Timeout(60.seconds)

  private def withTask[A](
      kinesis: FakeKinesis,
      isRealTime: Boolean
  )(use: KinesisDataWriter => A): A = {
    val settings = WriteSettings(
      Some(FixedStream(StreamAccess(stream, config), summary)),
      ConnectionDefaults(None, None, config.credentials),
      SinkOptions().inRealTime,
      RowRecord.of(new StructType().add("data", BinaryType).add("partitionKey", StringType)),
      deadLetters = None,
      executors = 1,
      isRealTime = isRealTime
    )
    val clock = new FastClock
    val streams =
      new RoutedStreams(_ => new Loan(kinesis, () => ()), clock, (_, _) => ())
    val attempt = WriteTask(0, None, streams, clock, new Random(1), () => false)
    val task = new KinesisDataWriter(settings, attempt, _ => ())
    try use(task)
    finally task.close()
  }

  /** One row, and then a wait: `true` if it ended by itself. */
  private final class Rows(wait: => Boolean) {
    var hasEnded = false

    def iterator: Iterator[InternalRow] =
      Iterator.single(InternalRow("a".getBytes, UTF8String.fromString("k"))) ++
        Iterator.continually { hasEnded = wait; hasEnded }.takeWhile(!_).map(_ => InternalRow())
  }

  test("a row is written before the next one comes") {
    val kinesis = FakeKinesis.willing
    withTask(kinesis, isRealTime = true) { task =>
      val rows = new Rows({ eventually(soon)(assert(kinesis.written === Seq("a"))); true })
      task.writeAll(rows.iterator.asJava)
      assert(rows.hasEnded)
    }
  }

  test("a failure ends the task while it waits for a row, with the failure's condition") {
    withTask(denying, isRealTime = true) { task =>
      val rows = new Rows(new CountDownLatch(1).await(60, TimeUnit.SECONDS))
      val e = intercept[ConnectorError](task.writeAll(rows.iterator.asJava))
      assert(e.getCondition === "KINESIS_ACCESS_DENIED")
      assert(!rows.hasEnded && !Thread.currentThread.isInterrupted)
    }
  }

  test("a failure does not interrupt a task of a micro-batch, whose rows are there") {
    withTask(denying, isRealTime = false) { task =>
      val rows = new Rows({
        eventually(soon)(assert(denying.requests.nonEmpty))
        !new CountDownLatch(1).await(50, TimeUnit.MILLISECONDS)
      })
      val e = intercept[ConnectorError](task.writeAll(rows.iterator.asJava))
      assert(e.getCondition === "KINESIS_ACCESS_DENIED" && rows.hasEnded)
    }
  }

  test("linger is 100 ms, and 5 ms in real-time mode, unless the user sets it") {
    def lingers(options: (String, String)*) = {
      val parsed = SinkOptions.parse(Options.parse(options.toMap, SinkTable.all))
      Seq(parsed.linger, parsed.inRealTime.linger)
    }
    assert(lingers() === Seq(100.millis, 5.millis))
    assert(lingers("linger" -> "1s") === Seq(1.second, 1.second))
  }

  private def refused(options: SinkOptions, keepsKeys: Boolean): String = {
    val e = intercept[OptionException](RealTimeMode.check(options, keepsKeys))
    assert(e.condition === OptionException.ConflictingOptions)
    e.getMessage
  }

  test("order is refused in real-time mode, because of its shuffle, unless the source keeps it") {
    val ordered = SinkOptions(isOrdered = true)
    Seq(true, false).foreach(RealTimeMode.check(SinkOptions(), _))
    RealTimeMode.check(ordered, keepsKeys = true)
    val message = refused(ordered, keepsKeys = false)
    assert(message.contains("'ordering' is perKey") && message.contains("Set 'ordering' to none"))
    val sorted = refused(ordered.copy(orderBy = Some("version")), keepsKeys = true)
    assert(sorted.contains("'orderBy'"))
  }
}
