package sparkkinesis.shard.feed

import java.util.concurrent.atomic.{AtomicLongArray, LongAdder}

import sparkkinesis.client.{Clock, SystemClock}
import sparkkinesis.shard.Durations

/** What the feeds of a fetch service did since it began. Thread-safe. */
private[sparkkinesis] final class FeedCounts(clock: Clock) {
  private val (begun, renewed, inUse, bytes, byLibrary) =
    (new LongAdder, new LongAdder, new LongAdder, new LongAdder, new LongAdder)
  private val requests = new AtomicLongArray(Durations.Buckets) // by the time that they took

  /** Calls of `SubscribeToShard`, including renewals. */
  def subscriptions: Long = begun.sum

  /** Subscriptions that followed an earlier one of the same shard which had served its time. */
  def renewals: Long = renewed.sum

  /** `ResourceInUse`: another reader uses the consumer, or did so a moment ago. */
  def refusals: Long = inUse.sum

  /** Bytes of data in the events. */
  def pushedBytes: Long = bytes.sum

  /** Responses and events that a library decoded, because our decoder could not. */
  def fallbacks: Long = byLibrary.sum

  /** How long `GetRecords` requests took, also those that failed. */
  def times: Durations = Durations.of(requests.get(_))

  private[feed] def subscribed(): Unit = begun.increment()
  private[feed] def renewal(): Unit = renewed.increment()
  private[feed] def refused(): Unit = inUse.increment()
  private[feed] def pushed(size: Long): Unit = bytes.add(size)

  private[feed] def fallback(): Unit = byLibrary.increment()

  private[feed] def timed[A](request: => A): A = {
    val begin = clock.elapsedMillis
    try request
    finally
      requests.incrementAndGet(Durations.bucketOf(clock.elapsedMillis - begin)): Unit
  }
}

private[sparkkinesis] object FeedCounts {

  /** For feeds whose counts nobody reads, as those of tasks: a histogram takes 8 KB. */
  val Unread: FeedCounts = new FeedCounts(SystemClock)
}
