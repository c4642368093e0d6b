package sparkkinesis.spark.write

import java.util.concurrent.{CountDownLatch, Semaphore, TimeUnit}

import scala.concurrent.duration._
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import sparkkinesis.client._
import sparkkinesis.model.{StreamName, StreamRef}
import sparkkinesis.sink.{FastClock, SinkOptions}
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.ManyStreams

class RoutedWriteSuite extends AnyFunSuite {
  private val byName = new StructType().add("data", StringType).add("stream", StringType)
  private val byArn = new StructType().add("data", StringType).add("streamArn", StringType)
  private val credentials = CredentialsConfig(CredentialsSource.DefaultChain, None)
  private val reach = ConnectionDefaults(Some("eu-west-1"), None, credentials)
  private val orders = StreamAccess(
    StreamRef.ByName(StreamName("orders")),
    ClientConfig("eu-west-1", None, credentials)
  )

  private val described =
    new ManyStreams(Map("orders" -> 100)).describeStream(StreamRef.ByName(StreamName("orders")))

  private def arn(name: String, region: String = "eu-west-1") =
    s"arn:aws:kinesis:$region:123456789012:stream/$name"

  private def row(stream: String, data: String = "x") =
    InternalRow(UTF8String.fromString(data), UTF8String.fromString(stream))

  private class Fixture(columns: StructType, stream: Option[FixedStream] = None) {
    val kinesis = new ManyStreams(Map("a" -> 100, "b" -> 20, "orders" -> 100))
    val clock = new FastClock
    var regions: Set[String] = Set.empty[String]
    val streams = new RoutedStreams(
      config => { regions += config.region; kinesis.loan() },
      clock,
      (_, _) => ()
    )

    def writing(use: KinesisDataWriter => Unit): Unit = writing(() => false)(use)

    def writing(isCancelled: () => Boolean)(use: KinesisDataWriter => Unit): Unit = {
      val settings = WriteSettings(stream, reach, SinkOptions(), RowRecord.of(columns), None, 1)
      val task = WriteTask(0, None, streams, clock, new Random(1), isCancelled)
      val writer = new KinesisDataWriter(settings, task, _ => ())
      try use(writer)
      finally writer.close()
    }
  }

  test("each row goes to the stream it names, and each stream is described once for all tasks") {
    val it = new Fixture(byName)
    (1 to 3).foreach { _ =>
      it.writing { task =>
        Seq("a", "b", "a").foreach(name => task.write(row(name, s"to $name")))
        task.commit()
      }
    }
    assert(it.kinesis.written.size === 9)
    assert(it.kinesis.written.forall { case (stream, data) => data == s"to $stream" })
    assert(it.kinesis.asked === Seq("a", "b"))
    assert(it.streams.loans === 0)
  }

  test("the stream of a row may be in memory that Spark reuses") {
    val it = new Fixture(byName)
    it.writing { task =>
      val bytes = "a".getBytes
      val reused = InternalRow(UTF8String.fromString("x"), UTF8String.fromBytes(bytes))
      task.write(reused)
      bytes(0) = 'b'
      task.write(reused)
      task.commit()
    }
    assert(it.kinesis.written.map(_._1).toSet === Set("a", "b"))
  }

  test("for a stream named by ARN, the region is the ARN's") {
    val it = new Fixture(byArn)
    it.writing { task =>
      task.write(row(arn("a")))
      task.write(row(arn("b", "us-west-2")))
      task.commit()
    }
    assert(it.kinesis.written.map(_._1).toSet === Set(arn("a"), arn("b", "us-west-2")))
    assert(it.regions === Set("eu-west-1", "us-west-2"))
  }

  test("the option's stream wins over the stream of a row") {
    val it = new Fixture(byName, Some(FixedStream(orders, described)))
    it.writing { task =>
      Seq("a", null).foreach(name => task.write(row(name)))
      task.commit()
    }
    assert(it.kinesis.written.map(_._1).toSet === Set("orders"))
    assert(it.kinesis.asked.isEmpty, "the driver has asked about the option's")
  }

  test("a task without rows borrows no stream and makes no call") {
    Seq(new Fixture(byName), new Fixture(byName, Some(FixedStream(orders, described)))).foreach {
      it =>
        it.writing(task => assert(task.commit() === null))
        assert(it.kinesis.asked.isEmpty && it.regions.isEmpty)
    }
  }

  private val badRows = Table(
    ("columns", "stream", "message holds"),
    (byName, null, "any stream: column 'stream' is null, and no option names a stream"),
    (byName, "", "column 'stream' is '', not a stream name"),
    (byName, "  ", "column 'stream' is '  ', not a stream name"),
    (byName, "or ders", "stream or ders: column 'stream' is 'or ders', not a stream name"),
    (byName, "a\nERROR b", "stream a\\u000aERROR b: column 'stream' is 'a\\u000aERROR b', not"),
    (byName, "s" * 129, "not a stream name"),
    (byName, arn("a"), "not a stream name"),
    (byArn, null, "column 'streamArn' is null"),
    (byArn, "a", "column 'streamArn' is 'a', not a stream ARN such as arn:aws:kinesis"),
    (byArn, arn("a") + "x ", "not a stream ARN such as"),
    (byName, "c", "column 'stream' names a stream that does not exist: DescribeStreamSummary of c")
  )

  test("a row with an invalid stream is a bad row") {
    forAll(badRows) { (columns, stream, message) =>
      val it = new Fixture(columns)
      it.writing { task =>
        val e = intercept[ConnectorError](task.write(row(stream)))
        assert(e.getCondition === "KINESIS_INVALID_ROW")
        assert(e.getMessage.contains("Row 1 of partition 0 cannot go to "))
        assert(e.getMessage.contains(message))
        assert(e.getMessage.contains("option 'deadLetterPath'"))
      }
      assert(it.kinesis.written.isEmpty)
    }
  }

  test("a task with a hundred invalid streams fails, and keeps none of them") {
    val it = new Fixture(byName)
    it.writing { task =>
      def refused(name: String) = intercept[ConnectorError](task.write(row(name))).getCondition
      (1 to 100).foreach(n => assert(refused(s"none-$n") === "KINESIS_INVALID_ROW"))
      assert(refused("none-1") === "KINESIS_INVALID_ROW" && it.streams.loans === 0)
      assert(refused("none-101") === "KINESIS_STREAM_NOT_FOUND")
    }
    assert(it.kinesis.asked.size === 101)
  }

  test("a failure that the row did not cause does not make it a bad row") {
    val it = new Fixture(byName)
    it.kinesis.refusals += new KinesisException.AccessDenied("no")
    it.writing { task =>
      assert(
        intercept[ConnectorError](task.write(row("a"))).getCondition === "KINESIS_ACCESS_DENIED"
      )
    }
  }

  test("a cancelled task ends while it waits for a description, and the call with it") {
    val it = new Fixture(byName)
    val (isAsked, isEnded) = (new CountDownLatch(1), new CountDownLatch(1))
    it.kinesis.beforeDescription = () => {
      isAsked.countDown()
      try new Semaphore(0).tryAcquire(1, TimeUnit.MINUTES): Unit
      catch {
        case e: InterruptedException =>
          isEnded.countDown()
          throw e
      }
    }
    it.writing(() => isAsked.getCount == 0) { task =>
      intercept[InterruptedException](task.write(row("a")))
    }
    assert(isEnded.await(1, TimeUnit.MINUTES))
  }

  test("each stream has its own limit, and a raised limit is effective after a minute") {
    val it = new Fixture(byName)
    it.writing { task =>
      val large = "x" * 50
      task.write(row("a", large))
      val refused = intercept[ConnectorError](task.write(row("b", large)))
      assert(refused.getMessage.contains("take 66 bytes, and the stream allows 20"))
      it.kinesis.setLimit("b", 100)
      assertThrows[ConnectorError](task.write(row("b", large)))
      it.clock.pass(61.seconds)
      task.write(row("b", large))
      task.commit()
    }
    assert(it.kinesis.written.map(_._1).sorted === Seq("a", "b"))
    assert(it.kinesis.asked.count(_ == "b") === 2)
  }
}
