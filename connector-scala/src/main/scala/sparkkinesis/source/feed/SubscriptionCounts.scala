package sparkkinesis.source.feed

import java.util.concurrent.atomic.LongAdder

/** What the subscriptions of a fetch service did since it began. Thread-safe. */
final class SubscriptionCounts {
  private val (begun, renewed, inUse, bytes) =
    (new LongAdder, new LongAdder, new LongAdder, new LongAdder)

  /** Calls of `SubscribeToShard`, including renewals. */
  def subscriptions: Long = begun.sum

  /** Subscriptions that followed an earlier one of the same shard which had served its time. */
  def renewals: Long = renewed.sum

  /** `ResourceInUse`: another reader uses the consumer, or did so a moment ago. */
  def refusals: Long = inUse.sum

  /** Bytes of data in the events. */
  def pushedBytes: Long = bytes.sum

  private[feed] def subscribed(): Unit = begun.increment()
  private[feed] def renewal(): Unit = renewed.increment()
  private[feed] def refused(): Unit = inUse.increment()
  private[feed] def pushed(size: Long): Unit = bytes.add(size)
}
