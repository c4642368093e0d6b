package sparkkinesis.source.plan

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.{Progress, ShardProgress, SourceOffset}
import sparkkinesis.source.protocol.{Frontier, ReadLimits}

/**
 * The one batch of `Trigger.Once`. It holds children beside their parents, so its end is put together
 * from the ends of batches that are never run: from each of them reading ahead goes on.
 *
 * @param stopAtMillis what arrived later is the next run's
 * @param tip the last of those ends
 * @param end of the one batch so far: `tip` with all shards finished before it, and with the parents
 *   that each shard waited for
 * @param pagesFrom what lies before need not be kept in memory: tasks will read it again
 * @param isDone whether all that had arrived lies before `end`
 */
final case class OneBatch private (
    stopAtMillis: Long,
    tip: SourceOffset,
    end: SourceOffset,
    pagesFrom: SourceOffset,
    isDone: Boolean
) {

  /**
   * The batch as far as it is known; the same one where there is nothing to do but wait.
   *
   * @param frontiers behind `tip`
   * @param isFull whether pages that are kept stop the fetchers: then they are let go
   */
  def further(frontiers: Map[StreamShard, Frontier], isFull: Boolean): OneBatch = {
    val isKnown = tip.readable.keys.forall(id => frontiers.get(id).exists(_.reaches(stopAtMillis)))
    if (!isKnown && !isFull) this
    else {
      val due = Frontier.until(frontiers, stopAtMillis)
      val reached = BatchPlanner.end(tip, due, ReadLimits.None)
      val whole = if (reached eq tip) end else OneBatch.joined(end, reached)
      val isOver = isKnown && reached.readable.keySet.subsetOf(tip.readable.keySet)
      if (isOver) copy(end = whole, isDone = true)
      else {
        val kept = if (isFull) reached else OneBatch.beginning(pagesFrom, reached)
        copy(tip = reached, end = whole, pagesFrom = kept)
      }
    }
  }
}

object OneBatch {

  /** Nothing of it is known yet. */
  def from(start: SourceOffset, stopAtMillis: Long): OneBatch =
    OneBatch(stopAtMillis, start, start.settled, start, isDone = false)

  /** `start`, with the shards that only `later` has, at their beginning. */
  def beginning(start: SourceOffset, later: SourceOffset): SourceOffset =
    SourceOffset(start.streams.transform { (arn, offset) =>
      val all = later.streams.get(arn).fold(offset.shards)(_.shards)
      val begun = all.keysIterator.filterNot(offset.shards.contains).map { id =>
        id -> ShardProgress(Progress.TrimHorizon, Set.empty)
      }
      if (begun.isEmpty) offset else offset.copy(shards = offset.shards ++ begun)
    })

  /** What was finished in `before` stays, and so do the parents that a shard waited for. */
  private def joined(before: SourceOffset, reached: SourceOffset): SourceOffset =
    SourceOffset(reached.streams.transform { (arn, offset) =>
      val known = before.streams(arn).shards
      val behind = offset.shards.transform { (id, shard) =>
        known.get(id).fold(shard)(waiting => shard.copy(waitsFor = waiting.waitsFor))
      }
      offset.copy(shards = known ++ behind)
    })
}
