package sparkkinesis.source

import java.lang.management.ManagementFactory
import java.net.URI

import scala.concurrent.duration._

import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.client.{ClientConfig, CredentialsConfig, CredentialsSource, SystemClock}
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.model.{Position, StreamName, StreamRef}
import sparkkinesis.simulator.service.SimulatedKinesis
import sparkkinesis.source.checkpoint.ShardDiscovery
import sparkkinesis.source.fetch.FetchService
import sparkkinesis.source.options.FetchSettings
import sparkkinesis.source.plan.FetchCoordinator
import sparkkinesis.source.position.ByShard
import sparkkinesis.source.protocol.ReadLimits

/**
 * The executor of a query whose batch hangs, as a program for [[ExecutorHeapSuite]]. It reads ahead
 * until the buffer is full, then prints how much of the heap is in use.
 *
 * Arguments: the endpoint, the buffer's size in bytes, and the number of records per page.
 */
object ExecutorHeap {
  private val stream = StreamRef.ByName(StreamName("orders"))

  def main(args: Array[String]): Unit = {
    val client = AwsClientFactory.create(
      ClientConfig(
        SimulatedKinesis.Region,
        Some(URI.create(args(0))),
        CredentialsConfig(CredentialsSource.Static("id", "key", None), None)
      )
    )
    val settings = FetchSettings(
      maxRecords = args(2).toInt,
      minPeriod = 1.milli,
      idlePeriod = 50.millis,
      bufferBytes = args(1).toLong,
      limits = ReadLimits.None,
      failOnDataLoss = true,
      stopAtMillis = None
    )
    val start = ShardDiscovery.initialOffset(
      StreamClient(stream, client),
      ByShard(Position.TrimHorizon),
      SystemClock,
      () => 0.5
    )
    val begin = SourceOffset.of(Seq(start))
    val base = liveHeap
    val coordinator = new FetchCoordinator(1.minute)
    coordinator.advance(begin, begin, SystemClock.now)
    val service: FetchService = new FetchService(
      "a",
      "localhost",
      Map(start.stream -> StreamClient(stream, client)),
      () => (),
      settings,
      coordinator.heartbeat(_, SystemClock.now),
      SystemClock,
      () => 0.5
    ).start()
    awaitFull(service, coordinator)
    val live = liveHeap
    println(s"${start.shards.size} $base $live ${service.buffer.bytes}")
    service.close()
    client.close()
  }

  /** Whether no page has arrived for three seconds. */
  private def awaitFull(service: FetchService, coordinator: FetchCoordinator): Unit = {
    var (before, quiet) = (-1L, 0)
    while (quiet < 30) {
      coordinator.failure.foreach(failure => sys.error(failure.message))
      SystemClock.sleep(100.millis)
      val now = service.buffer.bytes
      quiet = if (now == before && now > 0) quiet + 1 else 0
      before = now
    }
  }

  private def liveHeap: Long = {
    (1 to 3).foreach(_ => System.gc())
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }
}
