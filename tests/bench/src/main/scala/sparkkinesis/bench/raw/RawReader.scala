package sparkkinesis.bench.raw

import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}

import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future, Promise}
import scala.jdk.CollectionConverters._

import sparkkinesis.bench.raw.RawReader._
import sparkkinesis.bench.sizing.Load

/** `GetRecords` in a loop: four threads read each shard to its tip. */
object RawReader {
  private val Limit = 2.minutes
  private val PageRecords = 10000

  /** Adds up the results of the shards on the threads that read them. */
  private implicit val context: ExecutionContext = ExecutionContext.parasitic

  /**
   * @param period minimum time between two calls of a shard
   * @throws IllegalStateException if other records were found
   */
  def drain(
      client: RawClient,
      stream: String,
      expected: Load,
      period: FiniteDuration = Duration.Zero
  ): Unit = {
    val pool = Executors.newScheduledThreadPool(RawClient.Threads)
    val reader = new RawReader(client, pool, period)
    try {
      val shards = client.shards(stream).map(reader.drain(stream, _))
      val all = Await.result(Future.sequence(shards), Limit)
      val found = all.foldLeft(Found(0, 0))(_ + _)
      if (found != Found(expected.records.toLong, expected.bytes))
        throw new IllegalStateException(s"The raw loop read $found for $expected.")
    } finally {
      pool.shutdownNow()
      ()
    }
  }

  private final case class Found(records: Long, bytes: Long) {
    def +(that: Found): Found = Found(records + that.records, bytes + that.bytes)
  }
}

private final class RawReader(
    client: RawClient,
    pool: ScheduledExecutorService,
    period: FiniteDuration
) {
  private def drain(stream: String, shard: String): Future[Found] = {
    val done = Promise[Found]()
    after(Duration.Zero, done) {
      poll(client.iterator(stream, shard, "TRIM_HORIZON"), Found(0, 0), done)
    }
    done.future
  }

  private def poll(iterator: String, sofar: Found, done: Promise[Found]): Unit = {
    val next = period.fromNow
    val page = client.sdk.getRecords { b => b.shardIterator(iterator).limit(PageRecords); () }
    val bytes = page.records.asScala.foldLeft(0L)(_ + _.data.asByteArrayUnsafe.length)
    val found = sofar + Found(page.records.size.toLong, bytes)
    if (page.millisBehindLatest == 0 || page.nextShardIterator == null) done.success(found)
    else after(next.timeLeft.max(Duration.Zero), done)(poll(page.nextShardIterator, found, done))
    ()
  }

  /** A failure ends the drain. */
  private def after(delay: FiniteDuration, done: Promise[Found])(body: => Unit): Unit = {
    val task: Runnable = () =>
      try body
      catch { case e: Throwable => done.tryFailure(e); () }
    pool.schedule(task, delay.toNanos, TimeUnit.NANOSECONDS)
    ()
  }
}
