package sparkkinesis.source.plan

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.source.protocol.{FetchCounters, FetchFailure, Heartbeat}

/**
 * The driver's side of a query that executors read for. Safe for many threads.
 *
 * @tparam B the heartbeats of the executors
 * @param lease an executor without a heartbeat for this time is gone
 */
abstract class Coordinator[B <: Heartbeat](lease: FiniteDuration) {
  protected val executors = new ExecutorTable(lease)

  /** Answers a heartbeat. */
  def answer(beat: B): java.io.Serializable

  /** An executor has disconnected. */
  def executorLost(executor: String): Unit

  /** Time passes: the owner calls this every [[ExecutorTable.Tick]]. */
  def tick(): Unit

  /** The first failure of an executor that retries cannot fix. */
  def failure: Option[FetchFailure] = synchronized(executors.failure)

  /** Why the service of an executor ended unexpectedly. */
  def crash: Option[String] = synchronized(executors.crash)

  /** See [[ExecutorTable.counters]]. */
  def counters: FetchCounters = synchronized(executors.counters)

  /** See [[ExecutorTable.recentCounters]]. */
  def recentCounters: FetchCounters = synchronized(executors.recentCounters)

  /** The query stops. Each executor hears of it with the answer to its next heartbeat. */
  def stop(): Unit = synchronized(executors.stop())

  /** After `stop`: waits until every executor knows, or until the timeout. */
  def awaitStopped(timeout: FiniteDuration): Boolean = awaitUntil(timeout)(executors.allKnowOfStop)

  /** Waits until heartbeats have changed something as wanted. Returns `false` after the timeout. */
  protected def awaitUntil(timeout: FiniteDuration)(isReady: => Boolean): Boolean = synchronized {
    val end = timeout.fromNow
    while (!isReady && end.hasTimeLeft()) wait(math.max(1, end.timeLeft.toMillis))
    isReady
  }
}
