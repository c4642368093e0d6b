package sparkkinesis.spark.stop

import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.annotation.tailrec

import org.apache.hadoop.util.ShutdownHookManager

import org.apache.spark.SparkContext
import org.apache.spark.sparkkinesis.CurrentQuery
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.StreamingQuery

import sparkkinesis.client.SystemClock
import sparkkinesis.shard.SharedMap

/** Stops queries between two micro-batches, so that no batch is written a second time. */
private[sparkkinesis] object QueryStop {
  private val PollMillis = 50L

  /** Spark's own hook, which stops the session, has a lower one. */
  private val HookPriority = 100

  /** The requests by run ID. The latch is counted down when the query waits at its gate. */
  private[stop] val requests =
    SharedMap.ofJvm("QueryStop", new ConcurrentHashMap[String, CountDownLatch])

  /**
   * Waits until the running micro-batch has committed, and stops the query before another one
   * begins. If that takes longer than the timeout, interrupts the batch: then it runs again after a
   * restart.
   *
   * Then waits for the query's thread, at most `spark.sql.streaming.stopTimeout` (by default
   * without a limit).
   *
   * @return whether the query ended between two batches. False, too, if it has failed, or if its
   *   batch ran when somebody else stopped it. For a query that had ended before: whether it has
   *   not failed
   */
  def stop(query: StreamingQuery, timeoutMillis: Long): Boolean = {
    val run = query.runId.toString
    val deadline = SystemClock.elapsedMillis + timeoutMillis
    val hadEnded = !query.isActive
    val waits = requests.computeIfAbsent(run, _ => new CountDownLatch(1))
    val betweenBatches =
      try hadEnded || awaitGap(query, waits, deadline)
      finally
        try query.stop()
        finally requests.remove(run): Unit
    betweenBatches && query.exception.isEmpty
  }

  /** Stops the session's queries like that when the JVM ends, for example by SIGTERM. */
  def atShutdown(session: SparkSession, timeoutMillis: Long): Unit = {
    val stopAll: Runnable = () => {
      val stops = session.streams.active.map { query =>
        new Thread(() => stop(query, timeoutMillis): Unit, "spark-kinesis-stop")
      }
      stops.foreach(_.start())
      stops.foreach(_.join())
    }
    // Spark's stop comes after the timeout.
    val patience = 2 * timeoutMillis + 1000
    ShutdownHookManager
      .get()
      .addShutdownHook(stopAll, HookPriority, patience, TimeUnit.MILLISECONDS)
  }

  /** The gate of the query whose thread calls this. */
  private[spark] def gate(): StopGate = {
    val run = CurrentQuery.run(SparkContext.getOrCreate())
    new StopGate(() => run.flatMap(it => Option(requests.get(it))))
  }

  @tailrec
  private def awaitGap(query: StreamingQuery, waits: CountDownLatch, deadline: Long): Boolean =
    if (waits.await(PollMillis, TimeUnit.MILLISECONDS) || isIdle(query)) true
    else if (!query.isActive || SystemClock.elapsedMillis >= deadline) waits.getCount == 0
    else awaitGap(query, waits, deadline)

  /**
   * Whether the query is between two micro-batches. None begins then: the request was there before
   * the status was read, so the next trigger meets the gate. Only a query that has just started
   * repeats a batch without asking the source first.
   */
  private def isIdle(query: StreamingQuery): Boolean = {
    val status = query.status
    // Last: the status of a query that was interrupted in a batch looks the same.
    !status.isTriggerActive && !status.message.startsWith("Initializing") && query.isActive
  }
}

/**
 * Where a query's thread passes while no micro-batch has written anything yet.
 *
 * @param request to stop the query, if there is one
 */
private[spark] final class StopGate(request: () => Option[CountDownLatch]) {

  /** Whether the query is to be stopped. */
  def isClosing: Boolean = request().nonEmpty

  /**
   * Returns at once, or, if the query is to be stopped, waits until Spark interrupts the thread.
   */
  def pass(): Unit = request().foreach { it =>
    it.countDown()
    new CountDownLatch(1).await()
  }
}
