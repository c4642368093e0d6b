package sparkkinesis.client.aws

import java.lang.management.ManagementFactory
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import sparkkinesis.Slow
import sparkkinesis.client.SystemClock
import sparkkinesis.model.{PutEntry, ShardId, StreamName, StreamRef}
import sparkkinesis.shard.StreamClient
import sparkkinesis.simulator.fanout.NextEvent
import sparkkinesis.simulator.fault.Faults
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.simulator.{KinesisServer, LocalClient}
import sparkkinesis.source.ReadAheadFixture

/** One executor that reads many shards by enhanced fan-out. */
class ManySubscriptionsSuite extends AnyFunSuite with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(Span(120, Seconds), Span(100, Millis))

  private val name = StreamName("orders")
  private val shards = 200

  private def threads(prefix: String): Int =
    Thread.getAllStackTraces.keySet.asScala.count(_.getName.startsWith(prefix))

  /** The events that the server has sent, by shard. */
  private val events = new ConcurrentHashMap[ShardId, Int]
  private val counting: Faults = {
    case event: NextEvent =>
      events.merge(event.shard, 1, _ + _)
      None
    case _ => None
  }

  /** Waits until each shard has sent more events. They are empty while nothing is written. */
  private def awaitEvents(more: Int): Unit = {
    val before = events.asScala.toMap
    eventually(assert(events.size === shards && events.asScala.forall { case (shard, count) =>
      count >= before.getOrElse(shard, 0) + more
    }))
  }

  test(
    "two hundred subscriptions need few threads, and no call while there is nothing to read",
    Slow
  ) {
    val server =
      KinesisServer.start(kinesis = new SimulatedKinesis(SystemClock, faults = counting))
    val client = AwsClientFactory.create(LocalClient.config(server.endpoint))
    try {
      server.kinesis.createStream(name, shards)
      val consumer = client.fanOut.register(SimulatedKinesis.arn(name), "app").arn
      val ref = StreamRef.ByName(name)
      val start = ReadAheadFixture.oldest(StreamClient(ref, client))
      val query = new ReadAheadFixture(
        StreamClient(ref, client, consumer = Some(consumer)),
        start,
        ReadAheadFixture.Settings.copy(bufferBytes = Some(200L << 20))
      )
      try {
        eventually(assert(query.driver.frontiers.size === shards))
        def calls = server.kinesis.statistics.snapshot.calls.removed("DescribeStreamSummary")
        val before = calls
        for (number <- 1 to 500)
          server.kinesis.putRecord(name, PutEntry(s"key-$number", s"$number".getBytes, None))
        def read = query.driver.frontiers.values.map(_.marks.map(_.records).sum).sum
        eventually(assert(read === 500))
        awaitEvents(2)
        val later = calls.filterNot { case (call, count) => before.get(call).contains(count) }
        assert(later.keySet === Set("PutRecord"), "no shard was asked or subscribed to again")
        val (netty, fetching) =
          (threads("aws-java-sdk-NettyEventLoop"), threads("spark-kinesis-fetch"))
        val heap = ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed >> 20
        info(s"$netty threads of Netty, $fetching of the fetch service, $heap MB of heap in use")
        assert(fetching <= 8 && netty <= 2 * Runtime.getRuntime.availableProcessors + 2)
      } finally query.close()
      eventually(assert(threads("spark-kinesis-fetch") === 0))
    } finally {
      client.close()
      server.close()
    }
  }
}
