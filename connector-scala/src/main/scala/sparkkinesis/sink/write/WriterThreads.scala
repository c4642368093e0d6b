package sparkkinesis.sink.write

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{SynchronousQueue, ThreadPoolExecutor, TimeUnit}

import scala.concurrent.duration._

/** The daemon threads of one writer: as many as it has calls in progress. */
private[write] final class WriterThreads {
  import WriterThreads._

  private val made = new AtomicInteger

  private val pool = new ThreadPoolExecutor(
    0,
    Int.MaxValue,
    IdleTime.toMillis,
    TimeUnit.MILLISECONDS,
    new SynchronousQueue[Runnable],
    (task: Runnable) => {
      val thread = new Thread(task, s"spark-kinesis-writer-${made.incrementAndGet()}")
      thread.setDaemon(true)
      thread
    }
  )

  def run(body: => Unit): Unit = pool.execute(() => body)

  /** Interrupts all threads. None is started after this. */
  def interrupt(): Unit = { pool.shutdownNow(); () }

  /** Interrupts all threads, and gives them a short time to end. */
  def close(): Unit = {
    pool.shutdownNow()
    try { pool.awaitTermination(EndTime.toMillis, TimeUnit.MILLISECONDS); () }
    catch { case _: InterruptedException => Thread.currentThread().interrupt() }
  }
}

private object WriterThreads {
  private val IdleTime = 10.seconds

  /** An interrupted request ends well within this time. */
  private val EndTime = 1500.millis
}
