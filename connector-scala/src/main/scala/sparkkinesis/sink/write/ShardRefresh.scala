package sparkkinesis.sink.write

import scala.concurrent.duration._

import sparkkinesis.client.Backoff

/**
 * When to list the shards of a stream again: after an answer names another shard than predicted.
 * Pauses between listings, because a listing may lag behind a reshard and an answer may be wrong.
 *
 * @param chance evenly distributed in `[0, 1)`
 */
private[sink] final class ShardRefresh(chance: () => Double) {
  private var isStale = false
  private var notBefore = 0L
  private var listingsInVain = 0

  /** The known shards seem to be out of date. */
  def markStale(): Unit = isStale = true

  def isDue(now: Long): Boolean = isStale && now >= notBefore

  /** A listing showed other shards. */
  def changed(now: Long): Unit = {
    isStale = false
    listingsInVain = 0
    pause(now)
  }

  /**
   * A listing showed the same shards, or failed.
   *
   * @param isRepeated whether to list again after a pause
   */
  def unchanged(isRepeated: Boolean, now: Long): Unit = {
    isStale = isRepeated
    listingsInVain += 1
    pause(now)
  }

  private def pause(now: Long): Unit =
    notBefore = now + ShardRefresh.Pauses.delay(listingsInVain + 1, chance()).toMillis
}

private object ShardRefresh {
  private val Pauses = Backoff(base = 500.millis, cap = 30.seconds)
}
