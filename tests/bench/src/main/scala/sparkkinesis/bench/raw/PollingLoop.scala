package sparkkinesis.bench.raw

import java.net.URI
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.{Executors, TimeUnit}

import scala.concurrent.duration._

import software.amazon.awssdk.services.kinesis.model.ProvisionedThroughputExceededException

/** Polls the tip of each shard five times per second, whatever is refused. */
final class PollingLoop(endpoint: URI, stream: String) extends AutoCloseable {
  private val client = new RawClient(endpoint, retries = false)
  private val shards = client.shards(stream)
  private val pool = Executors.newScheduledThreadPool(shards.size)
  private val counted = new AtomicLong
  shards.foreach(shard => schedule(client.iterator(stream, shard, "LATEST")))

  /** So far. */
  def calls: Long = counted.get

  private def schedule(iterator: String): Unit = {
    pool.schedule(
      (() => schedule(poll(iterator))): Runnable,
      PollingLoop.Period.toMillis,
      TimeUnit.MILLISECONDS
    )
    ()
  }

  private def poll(iterator: String): String = {
    counted.incrementAndGet()
    try client.sdk.getRecords { b => b.shardIterator(iterator); () }.nextShardIterator
    catch { case _: ProvisionedThroughputExceededException => iterator }
  }

  override def close(): Unit = {
    pool.shutdownNow()
    client.close()
  }
}

private object PollingLoop {
  val Period: FiniteDuration = 200.millis
}
