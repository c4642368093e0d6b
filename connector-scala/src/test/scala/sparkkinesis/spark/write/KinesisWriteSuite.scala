package sparkkinesis.spark.write

import java.io.{ByteArrayOutputStream, ObjectOutputStream}
import java.net.URI
import java.nio.file.{Files, Paths}
import java.time.Instant
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Random

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import org.apache.spark.SparkConf
import org.apache.spark.sparkkinesis.Executors
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.{
  LogicalWriteInfo,
  RequiresDistributionAndOrdering,
  Write
}
import org.apache.spark.sql.execution.datasources.WriteTaskResult
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{BinaryType, IntegerType, StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.TemporaryFolders
import sparkkinesis.client._
import sparkkinesis.client.options.OptionException
import sparkkinesis.model._
import sparkkinesis.sink.lane.ExpiredRecord
import sparkkinesis.sink.metrics.SinkCounter
import sparkkinesis.sink.{AggregateLimits, DeadLetterOptions, FakeKinesis, FastClock, SinkOptions}
import sparkkinesis.spark.deadletter.{DeadLetter, DeadLetterFolder}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.metrics.WriteMetrics
import sparkkinesis.spark.once.TaskAttempts

class KinesisWriteSuite extends AnyFunSuite with TemporaryFolders {
  private val columns = new StructType().add("data", BinaryType).add("partitionKey", StringType)
  private val stream = StreamRef.ByName(StreamName("orders"))
  private val config = ClientConfig(
    "eu-west-1",
    None,
    CredentialsConfig(CredentialsSource.Static("ID", "hush", None), None)
  )
  private val patience = 5.minutes
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

  private def withTask[A](
      kinesis: FakeKinesis,
      settings: WriteSettings = this.settings,
      isRepeated: Boolean = false
  )(use: KinesisDataWriter => A): A = {
    val clock = new FastClock
    val streams =
      new RoutedStreams(_ => new Loan(kinesis, () => ()), clock, (_, _) => ())
    val writer =
      new KinesisDataWriter(
        settings,
        WriteTask(3, None, streams, clock, new Random(1), () => false, isRepeated),
        _ => ()
      )
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

  test("order is refused while Spark may run copies of a task, as the context says") {
    val session = new SQLConf
    session.setConfString("spark.speculation", "true")
    SQLConf.withExistingConf(session) {
      build("streamName" -> "orders", "region" -> "eu-west-1", "ordering" -> "perKey")
    }
    val context = new SparkConf(false)
    KinesisWriteBuilder.refuseCopies(TaskAttempts.areCopied(context))
    val e = intercept[OptionException] {
      KinesisWriteBuilder.refuseCopies(
        TaskAttempts.areCopied(context.set("spark.speculation", "true"))
      )
    }
    assert(e.condition === OptionException.ConflictingOptions)
    assert(e.getMessage.contains("Set spark.speculation to false"))
  }

  test("under dynamic allocation, the executors that will be there share the first burst") {
    val conf = new SparkConf(false).set("spark.executor.cores", "4")
    def expected(present: Int, tasks: Int) = Executors.expected(present, tasks, conf)
    assert(expected(3, 100) === 3 && expected(3, 2) === 2 && expected(0, 100) === 1)
    conf.set("spark.dynamicAllocation.enabled", "true")
    assert(expected(1, 101) === 26 && expected(30, 101) === 30 && expected(30, 7) === 7)
    conf.set("spark.task.cpus", "2").set("spark.dynamicAllocation.maxExecutors", "20")
    assert(expected(1, 8) === 4 && expected(1, 101) === 20 && expected(1, 0) === 1)
  }

  test("a row of a task that runs again may be in the stream") {
    val conf = new SparkConf(false)
    assert(!TaskAttempts.isRepeated(0, 0, conf))
    assert(TaskAttempts.isRepeated(1, 0, conf) && TaskAttempts.isRepeated(0, 1, conf))
    assert(TaskAttempts.isRepeated(0, 0, conf.set("spark.speculation", "true")))
    val record = ExpiredRecord(
      stream,
      ShardId("s"),
      PutEntry("k", Array(1), None),
      attempts = 0,
      "slow",
      mayBeWritten = false
    )
    def letter(isRepeated: Boolean) = DeadLetter.late(record, 5.minutes, isRepeated)
    assert(!letter(isRepeated = false).mayBeWritten && letter(isRepeated = true).mayBeWritten)
    assert(
      letter(isRepeated = false).message ===
        "The record waited 5 minutes (deliveryTimeout) for shard s, which accepted nothing. " +
        "No request contained the record. The last error was: slow"
    )
  }

  test("a stream that chooses shards by itself allows no order, no aggregates and no read-back") {
    val auto = summary(StreamStatus.Active).copy(distribution = Some(RecordDistribution.Auto))
    def refusal(options: SinkOptions) =
      intercept[ConnectorError](AutoDistribution.refuse(stream, auto, options))
    val ordered = refusal(SinkOptions(isOrdered = true))
    assert(ordered.getCondition === "KINESIS_AUTO_DISTRIBUTION")
    assert(ordered.getMessage.contains("Stream orders ") && ordered.getMessage.contains("AUTO"))
    assert(ordered.getMessage.contains("Set option 'ordering' to none"))
    val aggregated = refusal(SinkOptions(aggregation = Some(AggregateLimits())))
    assert(aggregated.getMessage.contains("Set option 'aggregation' to none"))
    val once = refusal(SinkOptions(aggregation = Some(AggregateLimits()), isExactlyOnce = true))
    assert(once.getMessage.contains("Set option 'deliveryGuarantee' to atLeastOnce"))
    AutoDistribution.refuse(stream, auto, SinkOptions())
    val byKey = summary(StreamStatus.Active)
    AutoDistribution.refuse(stream, byKey, SinkOptions(isOrdered = true))
    AutoDistribution.refuse(stream, byKey.copy(distribution = None), SinkOptions(isOrdered = true))
  }

  test("invalid options are refused when the write is planned") {
    val e = intercept[ConnectorError](build("streamName" -> "orders", "deliverTimeout" -> "1m"))
    assert(e.getCondition === "KINESIS_UNKNOWN_OPTION")
    assert(e.getMessage.contains("Did you mean 'deliveryTimeout'?"))
    val many = intercept[ConnectorError](
      build("streamName" -> "o", "region" -> "r", "maxInFlightRequests" -> "1000")
    )
    assert(many.getMessage.contains("expected a whole number from 1 to 256"))
  }

  private val routed = new StructType().add("data", StringType).add("stream", StringType)

  test("the options must name a stream, unless the rows do") {
    val e = intercept[ConnectorError](build("region" -> "eu-west-1"))
    assert(e.getCondition === "KINESIS_MISSING_OPTION")
    assert(e.getMessage.contains("or add a column 'stream' or 'streamArn'"))
    val write = buildFor(routed, "region" -> "eu-west-1")
    assert(write.description === "Kinesis the streams in column 'stream'")
  }

  test("the option wins over the column, as in Spark's Kafka sink, also with order") {
    val named = Seq("streamName" -> "orders", "region" -> "eu-west-1")
    val byArn = columns.add("streamArn", StringType)
    Seq(
      buildFor(routed, named: _*),
      buildFor(byArn, named: _*),
      buildFor(byArn.add("stream", IntegerType), named: _*),
      buildFor(byArn, named :+ ("ordering" -> "perKey"): _*)
    ).foreach(write => assert(write.description === "Kinesis stream orders (region eu-west-1)"))
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
        DeadLetterFolder.of(DeadLetterOptions(path), "q", new Configuration(false), None)
      }
      assert(e.condition === OptionException.InvalidOption)
      assert(e.getMessage.contains(message) && !e.getMessage.contains("hush"))
    }
  }

  test("everything that is sent to executors is serializable") {
    new ObjectOutputStream(new ByteArrayOutputStream)
      .writeObject(KinesisDataWriterFactory(settings, _ => ()))
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

  test("a record that its shard does not take in time becomes a dead letter") {
    val options = DeadLetterOptions(newFolder().toUri.toString, keepsLateRecords = true)
    val folder = DeadLetterFolder.of(options, "q", new Configuration(false), None)
    val keeping = settings
      .copy(options = SinkOptions(deadLetters = Some(options)), deadLetters = Some(folder))
    val busy = new FakeKinesis((_, entries) => entries.map(_ => FakeKinesis.Throttle))
    Seq(false, true).foreach(isRepeated =>
      withTask(busy, keeping, isRepeated) { task =>
        task.write(row("a".getBytes))
        val file = task.commit().asInstanceOf[WriteTaskResult].commitMsg.obj.toString
        val path = Paths.get(URI.create(folder.staging(None).toString)).resolve(file)
        val letter = new ObjectMapper().readTree(Files.readAllBytes(path))
        assert(letter.get("reason").textValue === "DELIVERY_TIMEOUT")
        assert(
          letter.get("message").textValue ===
            "Shard s did not accept the record within 5 minutes (deliveryTimeout). The last " +
            "error was: Rate exceeded for shard s (ProvisionedThroughputExceededException)"
        )
        assert(letter.get("row").isNull && letter.get("attempts").intValue > 1)
        assert(letter.get("mayBeWritten").booleanValue === isRepeated)
        assert(letter.get("partitionKey").textValue === "k")
        assert(letter.get("data").binaryValue === "a".getBytes)
        assert(task.counts.deadLetters === 1 && task.counts.sink(SinkCounter.RecordsWritten) === 0)
      }
    )
  }

  test("a query describes its stream at most once per minute, and again after a restart") {
    val clock = new FastClock
    val calls = new AtomicInteger
    val ask = (_: StreamAccess) => { calls.incrementAndGet(); summary(StreamStatus.Active) }
    val query = new WriteQuery(ask, clock)
    (1 to 5).foreach(_ => query.describe(access, patience))
    assert(calls.get === 1)
    new WriteQuery(ask, clock).describe(access, patience)
    assert(calls.get === 2)
    clock.pass(61.seconds)
    query.describe(access, patience)
    assert(calls.get === 3)
  }

  test("while the service cannot be reached, a query uses the last description") {
    val clock = new FastClock
    val active = () => summary(StreamStatus.Active)
    val cut = () => throw new KinesisException.Unreachable("reset")
    val gone = () => throw new KinesisException.NotFound("gone")
    val answers = Iterator(active, cut, active, gone)
    val calls = new AtomicInteger
    val query =
      new WriteQuery(_ => { calls.incrementAndGet(); answers.next()() }, clock)
    def described(): Int = {
      clock.pass(61.seconds)
      (1 to 3).foreach(_ => assert(query.describe(access, patience) === active()))
      calls.get
    }
    assert((1 to 3).map(_ => described()) === Seq(1, 2, 3))
    clock.pass(61.seconds)
    assertThrows[KinesisException.NotFound](query.describe(access, patience))
  }

  test("failed calls are retried; a missing stream, or one that is being created, is refused") {
    def asking(answers: Iterator[() => StreamSummary]) =
      new WriteQuery(_ => answers.next()(), new FastClock)
    val busy = () => throw new KinesisException.LimitExceeded("busy")
    val cut = () => throw new KinesisException.Unreachable("reset")
    val active = () => summary(StreamStatus.Active)
    assert(
      asking(Iterator(busy, cut, cut, busy, active))
        .describe(access, patience)
        .maxRecordBytes === 1024
    )
    assertThrows[KinesisException.LimitExceeded] {
      asking(Iterator.continually(busy)).describe(access, patience)
    }
    val gone = () => throw new KinesisException.NotFound("gone")
    assertThrows[KinesisException.NotFound] {
      asking(Iterator(gone, active)).describe(access, patience)
    }
    val creating = () => summary(StreamStatus.Creating)
    val e = intercept[ConnectorError](asking(Iterator(creating)).describe(access, patience))
    assert(e.getCondition === "KINESIS_STREAM_BUSY")
  }
}
