package sparkkinesis.bench

import java.util.concurrent.{Executors, TimeUnit}

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

/** Polls each shard from its tip in a loop of its own, until it is closed. */
final class RawFollower(
    client: RawClient,
    stream: String,
    period: FiniteDuration,
    threads: Int,
    seen: Array[Byte] => Unit
) extends AutoCloseable {
  private val pool = Executors.newScheduledThreadPool(threads)

  client.shards(stream).zipWithIndex.foreach { case (shard, index) =>
    val first = client.iterator(stream, shard, "LATEST")
    // Not all at once, but spread over the period.
    val delay = period * (index % RawFollower.Phases).toLong / RawFollower.Phases.toLong
    schedule(first, delay)
  }

  private def schedule(iterator: String, delay: FiniteDuration): Unit = {
    val poll: Runnable = () => schedule(follow(iterator), period)
    if (!pool.isShutdown) pool.schedule(poll, delay.toNanos, TimeUnit.NANOSECONDS)
    ()
  }

  @tailrec private def follow(iterator: String): String = {
    val page = client.sdk.getRecords { b => b.shardIterator(iterator); () }
    page.records.asScala.foreach(r => seen(r.data.asByteArrayUnsafe))
    if (page.millisBehindLatest == 0) page.nextShardIterator else follow(page.nextShardIterator)
  }

  override def close(): Unit = {
    pool.shutdownNow()
    pool.awaitTermination(RawFollower.StopLimit.toSeconds, TimeUnit.SECONDS)
    ()
  }
}

private object RawFollower {
  val Phases = 10
  val StopLimit: FiniteDuration = 10.seconds
}
