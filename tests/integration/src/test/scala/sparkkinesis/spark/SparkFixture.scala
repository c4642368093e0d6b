package sparkkinesis.spark

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.Suite

import org.apache.spark.sql.streaming.DataStreamWriter
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

import sparkkinesis.TemporaryFolders
import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamName
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.fault.Faults
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.Settings

/** A local Kinesis over HTTP, a Spark session that uses it, and folders for checkpoints. */
trait SparkFixture extends TemporaryFolders { this: Suite =>
  private val streams = new AtomicInteger

  protected def faults: Faults = Faults.None

  protected def newKinesis(): SimulatedKinesis =
    new SimulatedKinesis(SystemClock, Settings(), faults)

  protected def sparkBuilder: SparkSession.Builder =
    SparkSession.builder().master("local[2]").config("spark.ui.enabled", false)

  protected lazy val server: KinesisServer = KinesisServer.start(kinesis = newKinesis())
  protected lazy val spark: SparkSession = sparkBuilder.getOrCreate()

  override protected def afterAll(): Unit =
    try {
      spark.stop()
      server.close()
    } finally super.afterAll()

  /** By default with enough shards that quotas never delay the rows of a test. */
  protected def newStream(shards: Int = 4): StreamName = {
    val name = StreamName(s"stream-${streams.incrementAndGet()}")
    server.kinesis.createStream(name, shards)
    name
  }

  protected def newCheckpoint(): String = newFolder().toString

  protected def options(stream: StreamName, more: (String, String)*): Map[String, String] = Map(
    "streamName" -> stream.name,
    "region" -> SimulatedKinesis.Region,
    "endpoint" -> server.endpoint.toString,
    "awsAccessKeyId" -> "ID",
    "awsSecretAccessKey" -> "hush"
  ) ++ more

  /** A streaming write with a checkpoint of its own. */
  protected def writing(
      rows: DataFrame,
      stream: StreamName,
      more: (String, String)*
  ): DataStreamWriter[Row] = rows.writeStream
    .format("kinesis")
    .options(options(stream, more: _*))
    .option("checkpointLocation", newCheckpoint())

  /** All records of a stream, for a streaming query. */
  protected def readAll(stream: StreamName, more: (String, String)*): DataFrame =
    spark.readStream
      .format("kinesis")
      .options(options(stream, "startingPosition" -> "trim_horizon") ++ more)
      .load()
}
