package sparkkinesis.source

import java.lang.management.ManagementFactory
import java.net.URI

import scala.concurrent.duration._

import sparkkinesis.client.SystemClock
import sparkkinesis.client.aws.AwsClientFactory
import sparkkinesis.model.{StreamName, StreamRef}
import sparkkinesis.shard.{ReadSettings, StreamClient}
import sparkkinesis.simulator.LocalClient

/**
 * The executor of a query whose batch hangs, as a program for [[ExecutorHeapSuite]]. It reads ahead
 * until the buffer is full, then prints how much of the heap is in use.
 *
 * Arguments: the endpoint, the buffer's size in bytes, and the number of records per page.
 */
object ExecutorHeap {
  private val stream = StreamRef.ByName(StreamName("orders"))

  def main(args: Array[String]): Unit = {
    val client = AwsClientFactory.create(LocalClient.config(URI.create(args(0))))
    val settings = ReadAheadFixture.Settings.copy(
      ReadSettings(args(2).toInt, 1.milli, 50.millis),
      bufferBytes = Some(args(1).toLong)
    )
    val access = StreamClient(stream, client)
    val start = ReadAheadFixture.oldest(access)
    val base = liveHeap
    val query = new ReadAheadFixture(access, start, settings)
    awaitFull(query)
    val live = liveHeap
    println(s"${start.shards.size} $base $live ${query.store.bytes}")
    query.close()
    client.close()
  }

  /** Waits until no page has arrived for three seconds. */
  private def awaitFull(query: ReadAheadFixture): Unit = {
    var (before, quiet) = (-1L, 0)
    while (quiet < 30) {
      query.driver.executors.failure.foreach(failure => sys.error(failure.message))
      SystemClock.sleep(100.millis)
      val now = query.store.bytes
      quiet = if (now == before && now > 0) quiet + 1 else 0
      before = now
    }
  }

  private def liveHeap: Long = {
    (1 to 3).foreach(_ => System.gc())
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }
}
