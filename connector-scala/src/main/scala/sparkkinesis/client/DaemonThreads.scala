package sparkkinesis.client

import java.util.concurrent._

import scala.concurrent.duration.FiniteDuration

/** Threads that do not keep the JVM alive. Each has an owner that ends it. */
private[sparkkinesis] object DaemonThreads {

  /** @param name of each thread, by which a thread dump shows its owner */
  def named(name: String): ThreadFactory = task => {
    val thread = new Thread(task, name)
    thread.setDaemon(true)
    thread
  }

  /**
   * A pool for calls that come now and then. A thread ends one second after its last task.
   *
   * @param most number of threads
   */
  def pool(name: String, most: Int): ThreadPoolExecutor = {
    val threads = new ThreadPoolExecutor(
      most,
      most,
      1,
      TimeUnit.SECONDS,
      new LinkedBlockingQueue[Runnable],
      named(name)
    )
    threads.allowCoreThreadTimeOut(true)
    threads
  }

  /**
   * One thread for tasks with a delay. It ends one second after the last task. A cancelled task is
   * forgotten at once, not when its time comes.
   */
  def timer(name: String): ScheduledThreadPoolExecutor = {
    val single = new ScheduledThreadPoolExecutor(1, named(name))
    single.setKeepAliveTime(1, TimeUnit.SECONDS)
    single.allowCoreThreadTimeOut(true)
    single.setRemoveOnCancelPolicy(true)
    single
  }

  /**
   * Interrupts the threads of a pool, and waits for them. An interrupt ends the wait.
   *
   * @param most time to wait
   */
  def end(pool: ExecutorService, most: FiniteDuration): Unit = {
    pool.shutdownNow()
    try pool.awaitTermination(most.toMillis, TimeUnit.MILLISECONDS): Unit
    catch { case _: InterruptedException => Thread.currentThread().interrupt() }
  }
}
