package sparkkinesis.sink.rate

import scala.concurrent.duration._

import sparkkinesis.client.Backoff

/**
 * When to list a stream's shards anew: once an answer names another shard than was thought. Not
 * often, should a listing lag behind a reshard, or the answers be wrong.
 *
 * @param chance evenly distributed in `[0, 1)`
 */
private[sink] final class ShardRefresh(chance: () => Double) {
  private var isStale = false
  private var notBefore = 0L
  private var inVain = 0

  /** The shards seem to be others by now. */
  def doubt(): Unit = isStale = true

  def isDue(now: Long): Boolean = isStale && now >= notBefore

  /** They are others indeed. */
  def found(now: Long): Unit = {
    isStale = false
    inVain = 0
    pause(now)
  }

  /**
   * They were listed, and are the same.
   *
   * @param isAnswer whether that is all there is to know
   */
  def foundNothing(isAnswer: Boolean, now: Long): Unit = {
    isStale = !isAnswer
    inVain += 1
    pause(now)
  }

  private def pause(now: Long): Unit =
    notBefore = now + ShardRefresh.Pauses.delay(inVain + 1, chance()).toMillis
}

private object ShardRefresh {
  private val Pauses = Backoff(base = 500.millis, cap = 30.seconds)
}
