package sparkkinesis.shard.feed

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.Clock

/** Tells the thread of a task that any of its pushed feeds has news. Thread-safe. */
private[sparkkinesis] final class FeedNews {
  private var hasArrived = false // since the last wait

  def arrived(): Unit = synchronized {
    hasArrived = true
    notifyAll()
  }

  /** Waits for news since the last wait, or until the timeout. */
  def await(timeout: FiniteDuration, clock: Clock): Unit = synchronized {
    if (!hasArrived) clock.await(this, timeout.toMillis)
    hasArrived = false
  }
}
