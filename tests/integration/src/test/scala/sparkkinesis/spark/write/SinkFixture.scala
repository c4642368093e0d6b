package sparkkinesis.spark.write

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.{BeforeAndAfterAll, Suite}

import org.apache.spark.sql.SparkSession

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamName
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.fault.Faults
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.Settings

/** A local Kinesis over HTTP with the faults of a suite, and a Spark session that writes to it. */
trait SinkFixture extends BeforeAndAfterAll { this: Suite =>
  private val streams = new AtomicInteger

  protected def faults: Faults = Faults.None

  protected def sparkBuilder: SparkSession.Builder =
    SparkSession.builder().master("local[2]").config("spark.ui.enabled", false)

  protected def newKinesis(): SimulatedKinesis =
    new SimulatedKinesis(SystemClock, Settings(), faults)

  protected lazy val server: KinesisServer = KinesisServer.start(kinesis = newKinesis())
  protected lazy val spark: SparkSession = sparkBuilder.getOrCreate()

  override protected def afterAll(): Unit = {
    spark.stop()
    server.close()
  }

  /** A stream with enough shards that quotas never delay the rows of a test. */
  protected def newStream(): StreamName = {
    val name = StreamName(s"out-${streams.incrementAndGet()}")
    server.kinesis.createStream(name, 4)
    name
  }

  protected def options(stream: StreamName, more: (String, String)*): Map[String, String] = Map(
    "streamName" -> stream.name,
    "region" -> SimulatedKinesis.Region,
    "endpoint" -> server.endpoint.toString,
    "awsAccessKeyId" -> "ID",
    "awsSecretAccessKey" -> "hush"
  ) ++ more
}
