package sparkkinesis.spark.read

import java.nio.file.Files

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.StreamingQueryException

import sparkkinesis.client.SystemClock
import sparkkinesis.model.StreamName
import sparkkinesis.simulator.KinesisServer
import sparkkinesis.simulator.fault.{Fault, Faults}
import sparkkinesis.simulator.operation.GetRecords
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.state.Settings

/** A user may see a stream and yet not read it: the query says so. */
class SparkReadRefusalSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val denying: Faults = {
    case _: GetRecords => Some(Fault.AccessDenied)
    case _ => None
  }
  private lazy val server =
    KinesisServer.start(kinesis = new SimulatedKinesis(SystemClock, Settings(), denying))
  private lazy val spark =
    SparkSession.builder().master("local[2]").config("spark.ui.enabled", false).getOrCreate()

  override protected def afterAll(): Unit = {
    spark.stop()
    server.close()
  }

  test("the error for denied access has condition, stream, shard, region, endpoint and remedy") {
    server.kinesis.createStream(StreamName("sealed"), 1)
    val query = spark.readStream
      .format("kinesis")
      .option("streamName", "sealed")
      .option("region", SimulatedKinesis.Region)
      .option("endpoint", server.endpoint.toString)
      .option("awsAccessKeyId", "ID")
      .option("awsSecretAccessKey", "hush")
      .option("startingPosition", "trim_horizon")
      .load()
      .writeStream
      .format("noop")
      .option("checkpointLocation", Files.createTempDirectory("denied").toString)
      .start()
    val e = intercept[StreamingQueryException](query.awaitTermination(30000L))
    val parts = Seq(
      "[KINESIS_ACCESS_DENIED]",
      "stream sealed",
      "shardId-000000000000",
      SimulatedKinesis.Region,
      server.endpoint.toString,
      "Allow this action on the stream"
    )
    parts.foreach(part => assert(e.getMessage.contains(part), part))
    assert(!e.getMessage.contains("hush"))
  }
}
