package sparkkinesis.bench.raw

import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.{Executors, TimeUnit}

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

/** Polls each shard from its tip until it is closed. */
final class RawFollower(
    client: RawClient,
    stream: String,
    period: FiniteDuration,
    threads: Int,
    seen: Array[Byte] => Unit
) extends AutoCloseable {
  private val failure = new AtomicReference[Option[Throwable]](None)
  private val pool = Executors.newScheduledThreadPool(threads)
  client.shards(stream).zipWithIndex.foreach { case (shard, index) =>
    val first = client.iterator(stream, shard, "LATEST")
    // The first polls are spread over the period.
    val delay = period * (index % RawFollower.Phases).toLong / RawFollower.Phases.toLong
    schedule(first, delay)
  }

  private def schedule(iterator: String, delay: FiniteDuration): Unit = {
    val poll: Runnable = () =>
      try schedule(follow(iterator), period)
      catch { case e: Throwable => fail(e) }
    pool.schedule(poll, delay.toNanos, TimeUnit.NANOSECONDS)
    ()
  }

  @tailrec private def follow(iterator: String): String = {
    val page = client.sdk.getRecords { b => b.shardIterator(iterator); () }
    page.records.asScala.foreach(r => seen(r.data.asByteArrayUnsafe))
    if (page.millisBehindLatest == 0) page.nextShardIterator else follow(page.nextShardIterator)
  }

  /** Keeps the first failure, unless it is caused by closing. */
  private def fail(e: Throwable): Unit =
    if (!pool.isShutdown) {
      failure.compareAndSet(None, Some(e))
      ()
    }

  /**
   * @throws IllegalStateException if a poll has failed, after which its shard is no longer polled
   */
  def check(): Unit = failure.get.foreach { e =>
    throw new IllegalStateException(s"The raw loop over $stream failed: $e", e)
  }

  /** Also checks, because a comparison with a failed loop is invalid. */
  override def close(): Unit = {
    pool.shutdownNow()
    pool.awaitTermination(RawFollower.StopLimit.toSeconds, TimeUnit.SECONDS)
    check()
  }
}

private object RawFollower {
  val Phases = 10
  val StopLimit: FiniteDuration = 10.seconds
}
