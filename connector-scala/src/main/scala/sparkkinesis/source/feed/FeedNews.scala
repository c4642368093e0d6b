package sparkkinesis.source.feed

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.Clock

/** Tells the thread of a task that any of its pushed feeds has news. Thread-safe. */
final class FeedNews {
  private var number = 0L

  /** How often there were news. */
  def count: Long = synchronized(number)

  def arrived(): Unit = synchronized {
    number += 1
    notifyAll()
  }

  /** Waits until there are more news than `seen`, or until the timeout. */
  def await(seen: Long, timeout: FiniteDuration, clock: Clock): Unit = synchronized {
    if (number == seen) clock.await(this, timeout.toMillis)
  }
}
