package sparkkinesis.spark.read

import java.nio.file.Files
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}

import scala.jdk.CollectionConverters._

import org.scalatest.BeforeAndAfterAll
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery, Trigger}
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

import sparkkinesis.model.{PutEntry, StreamName}
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.service.SimulatedKinesis

/** Queries with an interval trigger, whose executors have little room to read ahead. */
class SparkIntervalSuite extends AnyFunSuite with BeforeAndAfterAll with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(50, Millis))

  private lazy val server = KinesisServer.start()
  private lazy val spark =
    SparkSession.builder().master("local[2]").config("spark.ui.enabled", false).getOrCreate()
  private val count = 600

  override protected def afterAll(): Unit = {
    spark.stop()
    server.close()
  }

  private def calls: Long = server.kinesis.statistics.snapshot.calls.getOrElse("GetRecords", 0L)

  /** A full store: nothing is asked, where an idle shard would be each second. */
  private def awaitNoCalls(): Long = {
    var (before, quiet) = (-1L, 0)
    eventually {
      val now = calls
      quiet = if (now == before) quiet + 1 else 0
      before = now
      assert(now > 0 && quiet > 40)
    }
    before
  }

  private def withBacklog(name: String, options: Map[String, String])(
      start: DataStreamWriter[Row] => StreamingQuery
  )(check: StreamingQuery => Unit): Unit = {
    val stream = StreamName(name)
    server.kinesis.createStream(stream, 1)
    (1 to count).foreach { number =>
      server.kinesis.putRecord(stream, PutEntry("k", s"$number ".padTo(1000, '.').getBytes, None))
    }
    val query = start(
      spark.readStream
        .format("kinesis")
        .option("streamName", name)
        .option("region", SimulatedKinesis.Region)
        .option("endpoint", server.endpoint.toString)
        .option("awsAccessKeyId", "ID")
        .option("awsSecretAccessKey", "hush")
        .option("startingPosition", "trim_horizon")
        .option("maxRecordsPerFetch", "10")
        .option("minFetchPeriod", "1ms")
        .options(options)
        .load()
        .writeStream
        .option("checkpointLocation", Files.createTempDirectory(name).toString)
    )
    try check(query)
    finally query.stop()
  }

  private def numbers(frame: DataFrame): Seq[Int] =
    frame.selectExpr("cast(data as string)").collect().toSeq.map { row =>
      row.getString(0).takeWhile(_ != ' ').toInt
    }

  test("the pages of a batch go when it is done, not when the next trigger fires") {
    val isFull = new CountDownLatch(1)
    withBacklog("interval", Map("fetchBufferSize" -> "200k", "fetchSpillSize" -> "0"))(
      _.trigger(Trigger.ProcessingTime("1 hour"))
        .foreachBatch { (frame: DataFrame, _: Long) =>
          numbers(frame)
          isFull.await()
        }
        .start()
    ) { _ =>
      val full = awaitNoCalls()
      isFull.countDown()
      eventually(assert(calls > full))
    }
  }

  test("a batch takes what memory and disk hold together, each row once and in order") {
    val isFull = new CountDownLatch(1)
    val batches = new ConcurrentLinkedQueue[Seq[Int]]
    val before = calls
    withBacklog("disk", Map("fetchBufferSize" -> "200k"))(
      _.foreachBatch { (frame: DataFrame, _: Long) =>
        batches.add(numbers(frame))
        isFull.await()
      }.start()
    ) { query =>
      eventually(assert(!batches.isEmpty))
      // The memory part holds less than 20 of these pages.
      eventually(assert(calls > before + count / 10))
      isFull.countDown()
      eventually(assert(batches.asScala.map(_.size).sum >= count || !query.isActive))
      query.exception.foreach(throw _)
      assert(batches.asScala.toSeq.flatten === (1 to count))
      assert(batches.asScala.exists(_.size > 200), "more than the memory holds")
      val metrics = query.lastProgress.sources.head.metrics
      assert(metrics.get("rereadRanges") === "0")
    }
  }
}
