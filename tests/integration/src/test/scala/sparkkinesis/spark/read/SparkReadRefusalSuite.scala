package sparkkinesis.spark.read

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.streaming.StreamingQueryException

import sparkkinesis.simulator.fault.{Fault, Faults}
import sparkkinesis.simulator.operation.GetRecords
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.spark.SparkFixture

/** A user may see a stream and yet not read it: the query says so. */
class SparkReadRefusalSuite extends AnyFunSuite with SparkFixture {
  override protected val faults: Faults = {
    case _: GetRecords => Some(Fault.AccessDenied)
    case _ => None
  }

  test("the error for denied access has condition, stream, shard, region, endpoint and remedy") {
    val stream = newStream(shards = 1)
    val query = readAll(stream).writeStream
      .format("noop")
      .option("checkpointLocation", newCheckpoint())
      .start()
    val e = intercept[StreamingQueryException](query.awaitTermination(30000L))
    val parts = Seq(
      "[KINESIS_ACCESS_DENIED]",
      s"stream $stream",
      "shardId-000000000000",
      SimulatedKinesis.Region,
      server.endpoint.toString,
      "Allow this action on the stream"
    )
    parts.foreach(part => assert(e.getMessage.contains(part), part))
    assert(!e.getMessage.contains("hush"))
  }
}
