package sparkkinesis.spark.read

import java.time.Instant
import java.util.UUID
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkException
import org.apache.spark.sparkkinesis.{DriverLink, Messages}

import sparkkinesis.Generators._
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.protocol._
import sparkkinesis.spark.LocalSpark
import sparkkinesis.spark.errors.ConnectorError
import sparkkinesis.spark.read.task.{FetchRun, FetchServices}

/** Reading ahead in one JVM, without a server. */
class ReadAheadSuite extends AnyFunSuite with LocalSpark {
  private val options = Map(
    "streamName" -> "orders",
    "region" -> "eu-west-1",
    "endpoint" -> "http://127.0.0.1:9",
    "awsAccessKeyId" -> "ID",
    "awsSecretAccessKey" -> "hush"
  )
  private val from = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap(shardId(0) -> ShardProgress(Progress.TrimHorizon, Set.empty))
    )
  )

  private def newRun(): FetchRun = {
    val parsed = SourceOptions.parse(options, None)
    FetchRun(s"run-${UUID.randomUUID}", parsed, Map(arn -> parsed.streams.head), Map.empty)
  }

  private def jobsRunning: Int = context.statusTracker.getActiveJobIds().length

  private def readFrom(ahead: ReadAhead): Unit = {
    ahead.advance(from, from)
    ahead.ensureServices()
    ahead.checkFailure()
  }

  /** Another query occupies the only slot. */
  private def withoutSlots(use: => Unit): Unit = {
    ReadAheadSuite.release = new CountDownLatch(1)
    val blocker = context.makeRDD(Seq(1), 1).map(_ => ReadAheadSuite.block()).countAsync()
    try {
      eventually(assert(jobsRunning === 1))
      use
    } finally {
      ReadAheadSuite.release.countDown()
      blocker.get(): Unit
    }
  }

  test("ReadAhead starts a service, and stop ends the service and the job") {
    val ahead = new ReadAhead(context, newRun(), 100.millis)
    readFrom(ahead)
    eventually(assert(FetchServices.count === 1))
    ahead.stop()
    eventually(assert(FetchServices.count === 0 && jobsRunning === 0))
  }

  test(
    "if no slot is free, ReadAhead does not wait and starts one job, which stop cancels"
  ) {
    withoutSlots {
      val ahead = new ReadAhead(context, newRun(), 100.millis)
      for (_ <- 1 to 3) readFrom(ahead)
      eventually(assert(jobsRunning === 2))
      assert(FetchServices.count === 0)
      ahead.stop()
      eventually(assert(jobsRunning === 1))
    }
    assert(FetchServices.count === 0)
  }

  test("a ReadAhead that never started registers nothing, and stops without an error") {
    val run = newRun()
    new ReadAhead(context, run).stop()
    assert(FetchServices.ensure(run).isRunning)
    eventually(assert(FetchServices.count === 0, "a service whose query has ended forgets itself"))
  }

  test("an executor with another version of the jar fails the query by name") {
    val run = newRun()
    val ahead = new ReadAhead(context, run, 100.millis)
    ahead.advance(from, from)
    val link = new DriverLink(run.id, 10.seconds)
    Seq(Messages.encode("status", "0.0.1"), Array[Byte](1, 2)).foreach { message =>
      intercept[SparkException](link.ask(message))
      val e = intercept[ConnectorError](ahead.checkFailure())
      assert(e.getErrorClass === "KINESIS_VERSION_MISMATCH" && e.getMessage.contains("orders"))
    }
    assert(intercept[ConnectorError](ahead.checkFailure()).getMessage.contains("0.0.1"))
    ahead.stop()
  }

  test("a service that cannot start fails the query by name") {
    val run = newRun()
    val broken = run.copy(streams = run.streams.transform { (_, access) =>
      access.copy(client = access.client.copy(region = ""))
    })
    val ahead = new ReadAhead(context, broken, 1.minute)
    ahead.advance(from, from)
    val e = intercept[ConnectorError](ahead.ensureServices())
    assert(e.getErrorClass === "KINESIS_EXECUTOR_FAILED" && e.getMessage.contains("orders"))
    ahead.stop()
  }

  test("an executor that dies loses its shards while Spark waits for the next trigger") {
    val run = newRun()
    val ahead = new ReadAhead(context, run, 100.millis, lease = 200.millis)
    ahead.advance(from, from)
    val held = FetchCounters.Zero.copy(bufferedBytes = 7)
    val status = FetchStatus("dead", "host", Vector.empty, held, None, 0)
    val message = Messages.encode(status, ProtocolVersion.Current)
    assert(new DriverLink(run.id, 10.seconds).ask(message).nonEmpty)
    // Metrics do not make the time of the driver pass.
    eventually(assert(ahead.metrics(0, 0, None)("bufferedBytes") === "0"))
    ahead.stop()
  }

  test("after the last executor was lost, the next trigger waits for pages of another one") {
    val run = newRun()
    // Long enough for the driver to look before the second executor is lost, too.
    val ahead = new ReadAhead(context, run, 1.minute, lease = 2.seconds)
    val driver = new DriverLink(run.id, 10.seconds)
    def read(executor: String): Unit = {
      def status(version: Long, reports: FetchReport*) =
        FetchStatus(executor, "host", reports.toVector, FetchCounters.Zero, None, version)
      def hear(status: FetchStatus) = Messages
        .decode[FetchReply](driver.ask(Messages.encode(status, ProtocolVersion.Current)).get)
      val reply = hear(status(0))
      val mine = reply.plan.get.assignments.head
      val page =
        FetchReport(mine.shard, mine.generation, Progress.TrimHorizon, Vector.empty, Nil, 9, 0)
      hear(status(reply.version, page)): Unit
    }
    withoutSlots {
      ahead.advance(from, from)
      read("first")
      ahead.ensureServices()
      eventually(assert(ahead.frontiers.isEmpty))
      val other = new Thread(() => read("second"))
      other.start()
      ahead.ensureServices()
      assert(ahead.frontiers.nonEmpty)
      other.join()
      ahead.stop()
    }
  }

  test("the job has its own description, and the query keeps its description") {
    context.setJobDescription("the query's")
    withoutSlots {
      val ahead = new ReadAhead(context, newRun(), 10.millis)
      readFrom(ahead)
      assert(context.getLocalProperty("spark.job.description") === "the query's")
      ahead.stop()
    }
    context.setJobDescription(null)
  }
}

object ReadAheadSuite {
  @volatile private var release = new CountDownLatch(0)

  private def block(): Boolean = release.await(1, TimeUnit.MINUTES)
}
