package sparkkinesis.client.aws

import scala.concurrent.duration._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.client._
import sparkkinesis.client.access.Timeouts
import sparkkinesis.model.offset.StreamOffset
import sparkkinesis.model.{PutEntry, ShardId, StreamName, StreamRef, StreamShard}
import sparkkinesis.shard.StreamClient
import sparkkinesis.simulator.fault.{Fault, FaultRule}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.{KinesisServer, LocalClient}
import sparkkinesis.source.ReadAheadFixture

/** A call that stalls, over HTTP: only its shard waits, until the attempt times out. */
class StalledShardSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(60, Seconds), Span(20, Millis))

  private val name = StreamName("orders")
  private val stream = StreamRef.ByName(name)
  private val settings = ReadAheadFixture.Settings.copy(bufferBytes = Some(100L << 20))

  test("a shard whose call stalls is read after the call times out, and the others meanwhile") {
    val server = KinesisServer.start()
    val client = AwsClientFactory.create(
      LocalClient.config(server.endpoint),
      Timeouts(connect = 5.seconds, attempt = 3.seconds, call = 3.seconds)
    )
    try {
      server.kinesis.createStream(name, 8)
      val start = ReadAheadFixture.oldest(StreamClient(stream, client))
      val slow = start.shards.firstKey
      server.kinesis.script.add(
        FaultRule(Fault.Stalled(1.hour), Some("GetRecords"), shard = Some(slow))
      )
      put(server.kinesis, start)
      readAll(client, start, slow)(server.kinesis.script.removeAll())
    } finally {
      client.close()
      server.close()
    }
  }

  /** Thirty records into each shard. */
  private def put(kinesis: SimulatedKinesis, start: StreamOffset): Unit =
    ShardLister
      .list(kinesis, stream, ShardFilter.AtLatest)
      .shards
      .foreach { shard =>
        assert(start.shards.contains(shard.id))
        (1 to 30).foreach { number =>
          kinesis.putRecord(name, PutEntry("k", s"$number".getBytes, Some(shard.hashKeys.first)))
        }
      }

  private def readAll(client: KinesisClient, start: StreamOffset, slow: ShardId)(
      recover: => Unit
  ): Unit = {
    val query = new ReadAheadFixture(StreamClient(stream, client), start, settings)
    def read(shard: ShardId) =
      query.driver.frontiers
        .get(StreamShard(start.stream, shard))
        .fold(0L)(_.marks.map(_.records).sum)
    try {
      eventually(assert(start.shards.keySet.forall(id => id == slow || read(id) == 30)))
      assert(read(slow) === 0, "still waiting")
      recover
      eventually(assert(read(slow) === 30))
      assert(query.driver.counters.retried >= 1 && query.driver.executors.failure.isEmpty)
    } finally query.close()
  }
}
