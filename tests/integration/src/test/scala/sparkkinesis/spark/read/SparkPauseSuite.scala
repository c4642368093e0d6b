package sparkkinesis.spark.read

import java.nio.file.Files
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.scalatest.BeforeAndAfterAll
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import org.apache.spark.sql.{DataFrame, SparkSession}

import sparkkinesis.model.{PutEntry, StreamName}
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.service.SimulatedKinesis

/**
 * A query whose sink hangs for longer than the lifetime of iterators, over HTTP. The test moves the
 * clock.
 */
class SparkPauseSuite extends AnyFunSuite with BeforeAndAfterAll with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(120, Seconds), Span(50, Millis))

  private lazy val server = KinesisServer.start()
  private lazy val spark =
    SparkSession.builder().master("local[2]").config("spark.ui.enabled", false).getOrCreate()

  override protected def afterAll(): Unit = {
    spark.stop()
    server.close()
  }

  private val name = StreamName("paused")
  private val count = 400

  private def calls: Long = server.kinesis.statistics.snapshot.calls.getOrElse("GetRecords", 0L)

  /**
   * Waits until the buffer is full and there are no calls, though an idle shard has one per second.
   */
  private def awaitNoCalls(): Unit = {
    var (before, quiet) = (-1L, 0)
    eventually {
      val now = calls
      quiet = if (now == before) quiet + 1 else 0
      before = now
      assert(now > 0 && quiet > 40)
    }
  }

  test(
    "a query that pauses continues with new iterators, without loss or repetition, and counts them"
  ) {
    server.kinesis.createStream(name, 1)
    (1 to count).foreach { number =>
      server.kinesis.putRecord(name, PutEntry("k", s"$number ".padTo(1000, '.').getBytes, None))
    }
    val rows = new ConcurrentLinkedQueue[Int]
    val resume = new CountDownLatch(1)
    val query = spark.readStream
      .format("kinesis")
      .option("streamName", name.name)
      .option("region", SimulatedKinesis.Region)
      .option("endpoint", server.endpoint.toString)
      .option("awsAccessKeyId", "ID")
      .option("awsSecretAccessKey", "hush")
      .option("startingPosition", "trim_horizon")
      .option("maxRecordsPerFetch", "10")
      .option("fetchBufferSize", "200k")
      .option("fetchSpillSize", "0")
      .load()
      .writeStream
      .option("checkpointLocation", Files.createTempDirectory("paused").toString)
      .foreachBatch { (frame: DataFrame, _: Long) =>
        val said = frame.selectExpr("cast(data as string)").collect().map(_.getString(0))
        said.foreach(text => rows.add(text.takeWhile(_ != ' ').toInt))
        resume.await()
      }
      .start()
    try {
      eventually(assert(!rows.isEmpty))
      awaitNoCalls()
      server.kinesis.advance(6.minutes)
      resume.countDown()
      eventually(assert(rows.size >= count || !query.isActive))
      query.exception.foreach(throw _)
      assert(rows.asScala.toSeq === (1 to count))
      eventually {
        assert(query.lastProgress.sources.head.metrics.get("expiredIterators").toLong >= 1)
      }
      val refused = server.kinesis.statistics.snapshot.refused("GetRecords")
      assert(refused("ExpiredIteratorException") >= 1)
    } finally {
      resume.countDown()
      query.stop()
    }
  }
}
