package sparkkinesis.source.plan

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.source.protocol.{FetchCounters, FetchFailure, Heartbeat}

/**
 * What the driver of a query knows of the executors that read for it. Used by one thread at a time.
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
  def failure: Option[FetchFailure] = executors.failure

  /** Why the service of an executor ended unexpectedly. */
  def crash: Option[String] = executors.crash

  /** See [[ExecutorTable.counters]]. */
  def counters: FetchCounters = executors.counters

  /** See [[ExecutorTable.recentCounters]]. */
  def recentCounters: FetchCounters = executors.recentCounters

  /** The query stops. Each executor hears of it with the answer to its next heartbeat. */
  def stop(): Unit = executors.stop()

  /** After `stop`: whether every executor knows. */
  def allKnowOfStop: Boolean = executors.allKnowOfStop
}
