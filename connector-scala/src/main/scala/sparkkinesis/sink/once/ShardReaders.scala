package sparkkinesis.sink.once

import java.util.concurrent._

import scala.concurrent.duration._

import sparkkinesis.client.DaemonThreads

/**
 * Threads that read shards side by side. When the call ends, it interrupts those that still read,
 * and gives them a short time to end.
 */
private[once] object ShardReaders {

  /**
   * Reads each shard, at most so many at a time. With one at a time, the caller's thread reads.
   *
   * @return the results, in any order
   * @throws InterruptedException or what `read` throws; the other reads are then interrupted
   */
  def readAll[A, B](shards: Seq[A], atATime: Int)(read: A => B): Seq[B] =
    if (math.min(atATime, shards.size) <= 1) shards.map(read)
    else {
      val pool = Executors.newFixedThreadPool(math.min(atATime, shards.size), NewThread)
      val answers = new ExecutorCompletionService[B](pool)
      try {
        shards.foreach(shard => answers.submit(() => read(shard)))
        shards.map(_ => answers.take().get())
      } catch { case e: ExecutionException => throw e.getCause }
      finally end(pool)
    }

  /** An interrupt ends the wait. */
  private def end(pool: ExecutorService): Unit = {
    pool.shutdownNow()
    try pool.awaitTermination(EndTime.toMillis, TimeUnit.MILLISECONDS): Unit
    catch { case _: InterruptedException => Thread.currentThread().interrupt() }
  }

  /** An interrupted call ends well within this time. */
  private val EndTime = 2.seconds
  private val NewThread = DaemonThreads.named("spark-kinesis-once-shard")
}
