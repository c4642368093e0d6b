package sparkkinesis.spark.write

import java.io.{ByteArrayOutputStream, ObjectOutputStream}
import java.time.Instant
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.{
  LogicalWriteInfo,
  RequiresDistributionAndOrdering,
  Write
}
import org.apache.spark.sql.types.{BinaryType, StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.client._
import sparkkinesis.client.options.OptionException
import sparkkinesis.model.{RecordDistribution, StreamArn, StreamName, StreamRef}
import sparkkinesis.sink.{AggregateLimits, DeadLetterOptions, FakeKinesis, FastClock, SinkOptions}
import sparkkinesis.spark.deadletter.DeadLetterFolder
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.WriteMetrics

class KinesisWriteSuite extends AnyFunSuite {
  private val columns = new StructType().add("data", BinaryType).add("partitionKey", StringType)
  private val stream = StreamRef.ByName(StreamName("orders"))
  private val config = ClientConfig(
    "eu-west-1",
    None,
    CredentialsConfig(CredentialsSource.Static("ID", "hush", None), None)
  )
  private val access = StreamAccess(stream, config)
  private val settings = WriteSettings(
    Some(FixedStream(access, summary(StreamStatus.Active, 10))),
    ConnectionDefaults(None, None, config.credentials),
    SinkOptions(),
    RowRecord.of(columns),
    deadLetters = None,
    executors = 1
  )

  private def build(options: (String, String)*): Write = buildFor(columns, options: _*)

  private def buildFor(columns: StructType, options: (String, String)*): Write = {
    val map = new CaseInsensitiveStringMap(options.toMap.asJava)
    new KinesisWriteBuilder(
      options.toMap,
      new LogicalWriteInfo {
        override def options(): CaseInsensitiveStringMap = map
        override def queryId(): String = "q"
        override def schema(): StructType = columns
      }
    ).build()
  }

  private def row(data: Array[Byte]) = InternalRow(data, UTF8String.fromString("k"))

  private def withTask[A](kinesis: FakeKinesis)(use: KinesisDataWriter => A): A = {
    val clock = new FastClock
    val streams =
      new RoutedStreams(_ => new Loan(kinesis, () => ()), clock, (_, _) => (), () => 0.5)
    val writer =
      new KinesisDataWriter(settings, 3, None, None, streams, clock, new Random(1), () => false)
    try use(writer)
    finally writer.close()
  }

  private def summary(status: StreamStatus, maxRecordBytes: Int = 1024) = StreamSummary(
    StreamArn.parse("arn:aws:kinesis:eu-west-1:123456789012:stream/orders").get,
    status,
    Instant.EPOCH,
    24.hours,
    1,
    maxRecordBytes
  )

  test("planning a write makes no call, and its description has no secret") {
    val write = build(
      "streamName" -> "orders",
      "region" -> "eu-west-1",
      "awsAccessKeyId" -> "ID",
      "awsSecretAccessKey" -> "hush",
      "checkpointLocation" -> "/c"
    )
    assert(write.description === "Kinesis stream orders (region eu-west-1)")
    assert(!write.toBatch.useCommitCoordinator && !write.toStreaming.useCommitCoordinator)
    assert(!settings.toString.contains("hush"))
  }

  test("a write requests no shuffle unless rows are to be ordered") {
    val where = Seq("streamName" -> "orders", "region" -> "eu-west-1")
    def asks(more: (String, String)*) =
      build(where ++ more: _*).isInstanceOf[RequiresDistributionAndOrdering]
    assert(!asks() && !asks("aggregation" -> "kpl") && !asks("ordering" -> "none"))
    assert(asks("ordering" -> "perKey") && asks("ordering" -> "perkey", "aggregation" -> "kpl"))
  }

  test("with order, a stream goes by one name") {
    val named = Seq("streamName" -> "orders", "region" -> "eu-west-1", "ordering" -> "perKey")
    val byArn = columns.add("streamArn", StringType)
    val e = intercept[ConnectorError](buildFor(byArn, named: _*))
    assert(e.getCondition === "KINESIS_CONFLICTING_OPTIONS")
    assert(e.getMessage.contains("option 'streamName' and column 'streamArn'"))
    buildFor(byArn, named.init: _*)
    buildFor(columns.add("stream", StringType), named: _*)
  }

  test("a stream that chooses shards by itself allows neither order nor aggregates") {
    val auto = summary(StreamStatus.Active).copy(distribution = RecordDistribution.Auto)
    def refusal(options: SinkOptions) =
      intercept[ConnectorError](AutoDistribution.refuse(stream, auto, options))
    val ordered = refusal(SinkOptions(isOrdered = true))
    assert(ordered.getCondition === "KINESIS_AUTO_DISTRIBUTION")
    assert(ordered.getMessage.contains("Stream orders ") && ordered.getMessage.contains("AUTO"))
    assert(ordered.getMessage.contains("Set option 'ordering' to none"))
    val aggregated = refusal(SinkOptions(aggregation = Some(AggregateLimits())))
    assert(aggregated.getMessage.contains("Set option 'aggregation' to none"))
    AutoDistribution.refuse(stream, auto, SinkOptions())
    val byKey = summary(StreamStatus.Active)
    AutoDistribution.refuse(stream, byKey, SinkOptions(isOrdered = true))
  }

  test("invalid options are refused when the write is planned") {
    val e = intercept[ConnectorError](build("streamName" -> "orders", "deliverTimeout" -> "1m"))
    assert(e.getCondition === "KINESIS_UNKNOWN_OPTION")
    assert(e.getMessage.contains("Did you mean 'deliveryTimeout'?"))
    val many = intercept[ConnectorError](
      build("streamName" -> "o", "region" -> "r", "maxInFlightRequests" -> "1000")
    )
    assert(many.getMessage.contains("expected at most 256"))
  }

  private val routed = new StructType().add("data", StringType).add("stream", StringType)

  test("the options must name a stream, unless the rows do") {
    val e = intercept[ConnectorError](build("region" -> "eu-west-1"))
    assert(e.getCondition === "KINESIS_MISSING_OPTION")
    assert(e.getMessage.contains("or add a column 'stream' or 'streamArn'"))
    val write = buildFor(routed, "region" -> "eu-west-1")
    assert(write.description === "Kinesis the streams in column 'stream'")
    val both = buildFor(routed, "region" -> "eu-west-1", "streamName" -> "orders")
    assert(both.description.contains("stream orders (region eu-west-1), the streams in column"))
  }

  private val badPaths = Table(
    ("path", "message holds"),
    ("no-such:///d", "No FileSystem for scheme \"no-such\""),
    ("file:d:/e", "'deadLetterPath' is 'file:d:/e': expected a folder"),
    ("s3a://me:hush@bucket/d", "'deadLetterPath' holds a password")
  )

  test("an invalid path for bad rows is refused when the write is planned") {
    forAll(badPaths) { (path, message) =>
      val e = intercept[OptionException] {
        DeadLetterFolder.of(DeadLetterOptions(path), "q", new Configuration(false))
      }
      assert(e.condition === OptionException.InvalidOption)
      assert(e.getMessage.contains(message) && !e.getMessage.contains("hush"))
    }
  }

  test("everything that is sent to executors is serializable") {
    new ObjectOutputStream(new ByteArrayOutputStream)
      .writeObject(KinesisDataWriterFactory(settings))
  }

  test("commit returns when all rows are written, and the counts are those of the writer") {
    val kinesis = FakeKinesis.willing
    withTask(kinesis) { task =>
      Seq("a", "b", "c").foreach(text => task.write(row(text.getBytes)))
      assert(task.commit() === null, "a class of ours does not reach every driver")
      assert(kinesis.written === Seq("a", "b", "c"))
      val counts = task.currentMetricsValues().map(it => it.name -> it.value).toMap
      assert(counts.keySet === WriteMetrics.all.map(_.name).toSet)
      assert(counts("recordsWritten") === 3 && counts("bytesWritten") === 6)
    }
  }

  test("a bad row is refused, and the error has its number, the task's partition and the stream") {
    withTask(FakeKinesis.willing) { task =>
      task.write(row(new Array[Byte](9)))
      val e = intercept[ConnectorError](task.write(row(new Array[Byte](10))))
      assert(e.getCondition === "KINESIS_INVALID_ROW")
      assert(e.getMessage.contains("Row 2 of partition 3 cannot go to stream orders: "))
      assert(e.getMessage.contains("take 11 bytes, and the stream allows 10"))
    }
  }

  test("a failure of the service has its condition") {
    val denied = new FakeKinesis((_, _) => throw new KinesisException.AccessDenied("no"))
    withTask(denied) { task =>
      task.write(row(Array(1)))
      assert(intercept[ConnectorError](task.commit()).getCondition === "KINESIS_ACCESS_DENIED")
    }
    val slow = new FakeKinesis((_, _) => throw new KinesisException.Throttled("slow"))
    withTask(slow) { task =>
      task.write(row(Array(1)))
      assert(intercept[ConnectorError](task.commit()).getCondition === "KINESIS_DELIVERY_TIMEOUT")
    }
  }

  test("a query describes its stream at most once per minute, and again after a restart") {
    val clock = new FastClock
    val calls = new AtomicInteger
    val ask = (_: StreamAccess) => { calls.incrementAndGet(); summary(StreamStatus.Active) }
    val query = new WriteQuery(ask, clock, () => 0.5)
    (1 to 5).foreach(_ => query.describe(access))
    assert(calls.get === 1)
    new WriteQuery(ask, clock, () => 0.5).describe(access)
    assert(calls.get === 2)
    clock.pass(61.seconds)
    query.describe(access)
    assert(calls.get === 3)
  }

  test("throttled calls are retried; a missing stream, or one that is being created, is refused") {
    def asking(answers: Iterator[() => StreamSummary]) =
      new WriteQuery(_ => answers.next()(), new FastClock, () => 0.5)
    val busy = () => throw new KinesisException.LimitExceeded("busy")
    val active = () => summary(StreamStatus.Active)
    assert(
      asking(Iterator(busy, busy, active)).describe(access).maxRecordBytes === 1024
    )
    assertThrows[KinesisException.LimitExceeded] {
      asking(Iterator.continually(busy)).describe(access)
    }
    val gone = () => throw new KinesisException.NotFound("gone")
    assertThrows[KinesisException.NotFound] {
      asking(Iterator(gone, active)).describe(access)
    }
    val creating = () => summary(StreamStatus.Creating)
    val e = intercept[ConnectorError](asking(Iterator(creating)).describe(access))
    assert(e.getCondition === "KINESIS_STREAM_BUSY")
  }
}
