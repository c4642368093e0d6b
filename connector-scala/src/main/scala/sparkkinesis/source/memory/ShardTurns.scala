package sparkkinesis.source.memory

import scala.collection.mutable

import sparkkinesis.model.StreamShard

/**
 * Whose turn it is to read when there is not enough room for a page of each shard: of the shards
 * that wait, the one whose last reservation is the oldest. Otherwise chance would decide, and it
 * may prefer one shard for long. Its owner's lock guards it.
 */
private[source] final class ShardTurns {
  import ShardTurns._

  private val lastTurns = mutable.Map.empty[StreamShard, Long].withDefaultValue(0L)
  private val waiting = mutable.Map.empty[StreamShard, Long] // number of refusals at the last one
  private var turn = 0L
  private var refusals = 0L

  /**
   * Whether no shard waits whose last turn is older.
   *
   * @param isSmall whether the page is small: then it waits only for a shard that has waited for
   *   long
   */
  def isNext(shard: StreamShard, isSmall: Boolean): Boolean =
    waiting.forall { case (other, refused) =>
      other == shard || lastTurns(other) >= lastTurns(shard) || isGone(refused) ||
      isSmall && turn - lastTurns(other) < Patience
    }

  /**
   * The shards that wait and whose turn is next.
   *
   * @param count at most so many
   * @param isAsking whether a shard asks if it is woken
   */
  def next(count: Int, isAsking: StreamShard => Boolean): Vector[StreamShard] =
    if (waiting.isEmpty) Vector.empty
    else waiting.keysIterator.filter(isAsking).toVector.sortBy(lastTurns).take(count)

  /** The shard has its turn now. */
  def granted(shard: StreamShard): Unit = {
    turn += 1
    lastTurns.update(shard, turn)
    waiting -= shard
  }

  /** @param isWaiting whether the shard lacks nothing but room */
  def refused(shard: StreamShard, isWaiting: Boolean): Unit = {
    refusals += 1
    if (isWaiting) waiting.update(shard, refusals) else waiting -= shard
  }

  /** The shard does not wait any more, because another executor reads it. */
  def forget(shard: StreamShard): Unit = {
    lastTurns -= shard
    waiting -= shard
  }

  /** Whether a shard asks no more: it may have asked once after `forget`. */
  private def isGone(refused: Long): Boolean = refusals - refused > Rounds * waiting.size
}

private object ShardTurns {

  /** Waiting shards ask at equal intervals: each asks once while all others do. */
  private val Rounds = 4L

  /** Number of turns of others. */
  private val Patience = 64L
}
