package sparkkinesis.source.fetch

import scala.collection.mutable

import sparkkinesis.model.StreamShard
import sparkkinesis.source.store.PageStore

/**
 * The fetchers that wait for room in the store. They ask again when there may be room, instead of
 * many times per second. Thread-safe.
 *
 * @param first a shard that may have room at any time
 * @param continue called with each fetcher that is woken; without the lock of this object
 */
private[fetch] final class WaitingFetchers(
    store: PageStore,
    first: () => Option[StreamShard],
    continue: ShardFetcher => Unit
) {
  private val waiting = mutable.Map.empty[StreamShard, ShardFetcher]
  private var count = 0L

  def isEmpty: Boolean = synchronized(waiting.isEmpty)

  /** Number of times so far that there may have been room. */
  def wakes: Long = synchronized(count)

  /**
   * The fetcher waits from now on. If there may have been room meanwhile, it continues at once.
   *
   * @param wakesBefore the value of `wakes` before the fetcher asked for room
   */
  def add(fetcher: ShardFetcher, wakesBefore: Long): Unit = {
    val waits = synchronized {
      val isSame = wakesBefore == count
      if (isSame) waiting.update(fetcher.shard, fetcher)
      isSame
    }
    if (!waits) continue(fetcher)
  }

  /**
   * A page has arrived, or its call failed. Perhaps it takes less room than was reserved for it.
   */
  def wakeNext(): Unit =
    wake(if (isEmpty) Vector.empty else store.next(contains) ++ first())

  /** Pages were dropped, or something else may have changed. */
  def wakeAll(): Unit = wake(synchronized(waiting.keySet.toVector))

  private def contains(shard: StreamShard) = synchronized(waiting.contains(shard))

  private def wake(shards: Vector[StreamShard]): Unit = synchronized {
    count += 1
    shards.flatMap(waiting.remove(_))
  }.foreach(continue)
}
