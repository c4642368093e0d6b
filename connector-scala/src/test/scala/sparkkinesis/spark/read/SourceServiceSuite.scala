package sparkkinesis.spark.read

import java.time.Instant
import java.util.UUID
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkException
import org.apache.spark.sparkkinesis.{DriverLink, Executors, Messages}

import sparkkinesis.Generators._
import sparkkinesis.client._
import sparkkinesis.model.offset.{Progress, ShardProgress, StreamOffset}
import sparkkinesis.model.{Position, StreamRef}
import sparkkinesis.shard.SourceException
import sparkkinesis.source.ReadOnlyKinesis
import sparkkinesis.source.ScriptedKinesis.{listing, summary}
import sparkkinesis.source.checkpoint.QueryStream
import sparkkinesis.source.options.SourceOptions
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.protocol._
import sparkkinesis.source.query.{MicroBatchQuery, QueryStreams}
import sparkkinesis.spark.read.task.{FetchServices, QueryRun}
import sparkkinesis.spark.stop.StopGate
import sparkkinesis.spark.{LocalSpark, LogTap}

/** The driver's services and threads in one JVM, without a server. */
class SourceServiceSuite extends AnyFunSuite with LocalSpark {
  private val options = SourceOptions.parse(
    Map(
      "streamName" -> "orders",
      "region" -> "eu-west-1",
      "endpoint" -> "http://127.0.0.1:9",
      "awsAccessKeyId" -> "ID",
      "awsSecretAccessKey" -> "hush",
      "shardDiscoveryInterval" -> "1s"
    ),
    None
  )
  private val from = only(
    StreamOffset(
      arn,
      Instant.EPOCH,
      SortedMap(shardId(0) -> ShardProgress(Progress.TrimHorizon, Set.empty))
    )
  )

  private class Serving(
      firstLook: FiniteDuration = 100.millis,
      lease: FiniteDuration = 10.seconds,
      change: QueryRun => QueryRun = identity,
      stop: () => Option[CountDownLatch] = () => None
  ) extends ReadOnlyKinesis {
    @volatile var lists = 0
    @volatile var failing: Option[Throwable] = None
    private val start = ByShard[Position](Position.TrimHorizon)
    private val stream =
      new QueryStream(options.streams.head, this, start, SystemClock)
    private val streams = new QueryStreams(options, Seq(stream.describe()), () => 0.5)
    val run: QueryRun = change(
      QueryRun(s"run-${UUID.randomUUID}", options, Map(arn -> options.streams.head), Map.empty)
    )
    val service = new SourceService[MicroBatchQuery](
      context,
      new StopGate(stop),
      new MicroBatchQuery(options, streams, firstLook, lease),
      Map(arn -> stream),
      _ => run,
      (_, id) => id == "dead" || Executors.all(context).contains(id)
    )

    def ask(): Unit = service.ask(_.asked(from, ReadLimits.None, _)): Unit

    def failure: SourceException = intercept[SourceException](ask())

    def hear(status: Heartbeat): HeartbeatReply = {
      val message = Messages.encode(status, ProtocolVersion.Current)
      Messages.decode[HeartbeatReply](new DriverLink(run.id, 10.seconds).ask(message).get)
    }

    override def describeStream(stream: StreamRef): StreamSummary = summary()

    override def listShards(request: ListShardsRequest): ShardListing = {
      lists += 1
      failing.foreach(e => throw e)
      listing(newStream(1): _*)
    }
  }

  private def jobsRunning: Int = context.statusTracker.getActiveJobIds().length

  /** Another query occupies the only slot. */
  private def withoutSlots(use: => Unit): Unit = {
    SourceServiceSuite.release = new CountDownLatch(1)
    val blocker = context.makeRDD(Seq(1), 1).map(_ => SourceServiceSuite.block()).countAsync()
    try {
      eventually(assert(jobsRunning === 1))
      use
    } finally {
      SourceServiceSuite.release.countDown()
      blocker.get(): Unit
    }
  }

  test("the first question starts a service, and close ends the service and the job") {
    val serving = new Serving
    serving.ask()
    eventually(assert(FetchServices.count === 1))
    serving.service.close()
    eventually(assert(FetchServices.count === 0 && jobsRunning === 0))
  }

  test("if no slot is free, it does not wait and starts one job, which close cancels") {
    withoutSlots {
      val serving = new Serving
      for (_ <- 1 to 3) serving.ask()
      eventually(assert(jobsRunning === 2))
      assert(FetchServices.count === 0)
      serving.service.close()
      eventually(assert(jobsRunning === 1))
    }
    assert(FetchServices.count === 0)
  }

  test("without a question it registers nothing, and closes without an error") {
    val serving = new Serving
    serving.service.close()
    val service = FetchServices.ensure(serving.run)
    eventually(assert(!service.isRunning && FetchServices.count === 0, "its query has ended"))
  }

  test("an executor with another version of the jar fails the query by name") {
    val serving = new Serving
    val link = new DriverLink(serving.service.run.id, 10.seconds)
    intercept[SparkException](link.ask(Messages.encode("status", "0.0.1", "driver")))
    val e = serving.failure
    assert(e.condition === "KINESIS_VERSION_MISMATCH" && e.getMessage.contains("orders"))
    assert(e.getMessage.contains("0.0.1"))
    serving.service.close()
  }

  test(
    "messages that do not come from an executor of the application are refused, with one warning"
  ) {
    val serving = new Serving
    val link = new DriverLink(serving.service.run.id, 10.seconds)
    val current = ProtocolVersion.Current
    val crash =
      Heartbeat("7", "host", Vector.empty, FetchCounters.Zero, None, 0, crash = Some("forged"))
    val warnings = LogTap.of(classOf[SourceService[_]]) {
      Seq(
        Array.emptyByteArray,
        Array[Byte](1, 2),
        Messages.encode("status", "0.0.1"),
        Messages.encode("status", "0.0.1", "7"),
        Messages.encode("no heartbeat", current, "driver"),
        Messages.encode(crash, current, "7")
      ).foreach(message => intercept[SparkException](link.ask(message)))
    }
    val texts = warnings.map(_.getMessage.getFormattedMessage)
    assert(texts.count(_.contains("not an executor of this application")) === 1, texts)
    serving.ask()
    assert(!serving.service.look((it, _) => it.hasFailed || it.executors.live("7")))
    serving.service.close()
  }

  test("a service that cannot start fails the query by name") {
    def broken(run: QueryRun) = run.copy(streams = run.streams.transform { (_, access) =>
      access.copy(client = access.client.copy(region = ""))
    })
    val serving = new Serving(firstLook = 1.minute, change = broken)
    val e = serving.failure
    assert(e.condition === "KINESIS_EXECUTOR_FAILED" && e.getMessage.contains("orders"))
    serving.service.close()
  }

  test("an executor that dies loses its shards while Spark waits for the next trigger") {
    val serving = new Serving(lease = 200.millis)
    assert(serving.service.run eq serving.run)
    serving.hear(Heartbeat("dead", "host", Vector.empty, FetchCounters.Zero, None, 0))
    assert(serving.service.look((it, _) => it.executors.live) === Set("dead"))
    eventually(assert(serving.service.look((it, _) => it.executors.live).isEmpty))
    serving.service.close()
  }

  test("a planned stop does not wait until there is an answer") {
    withoutSlots {
      @volatile var stop = Option.empty[CountDownLatch]
      val serving = new Serving(firstLook = 1.hour, stop = () => stop)
      val asking = new Thread(() =>
        try serving.ask()
        catch { case _: InterruptedException => } // as Spark ends a query
      )
      asking.start()
      val reached = new CountDownLatch(1)
      stop = Some(reached)
      assert(reached.await(20, TimeUnit.SECONDS))
      asking.interrupt()
      asking.join()
      serving.service.close()
    }
  }

  test("the job has its own description, and the query keeps its description") {
    context.setJobDescription("the query's")
    withoutSlots {
      val serving = new Serving(firstLook = 10.millis)
      serving.ask()
      assert(context.getLocalProperty("spark.job.description") === "the query's")
      serving.service.close()
    }
    context.setJobDescription(null)
  }

  test("calls are made on daemon threads, which end with the query") {
    def threads = {
      val all = Thread.getAllStackTraces.keySet.toArray(Array.empty[Thread])
      all.filter(_.getName == "spark-kinesis-driver").toSet
    }
    withoutSlots {
      val serving = new Serving(firstLook = 10.millis)
      serving.ask()
      eventually(assert(serving.lists > 0))
      assert(threads.nonEmpty && threads.forall(_.isDaemon))
      serving.service.close()
      eventually(assert(threads.isEmpty))
    }
  }

  test("a call that ends by an error fails the query, and an interrupt does not") {
    withoutSlots {
      val serving = new Serving(firstLook = 10.millis)
      serving.failing = Some(new InterruptedException("by a library"))
      serving.ask()
      eventually(assert(serving.service.look((it, _) => it.streams.failedListings) > 1))
      serving.ask()
      serving.failing = Some(new OutOfMemoryError("heap"))
      eventually(assert(serving.failure.condition === "KINESIS_INTERNAL_ERROR"))
      serving.service.close()
    }
  }
}

object SourceServiceSuite {
  @volatile private var release = new CountDownLatch(0)

  private def block(): Boolean = release.await(1, TimeUnit.MINUTES)
}
