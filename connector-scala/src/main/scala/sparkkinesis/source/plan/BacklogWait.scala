package sparkkinesis.source.plan

import scala.concurrent.duration._

import sparkkinesis.model.PackedRecords
import sparkkinesis.source.protocol.{FetchCounters, Frontier, ReadLimits}

/**
 * Decides whether a batch waits for pages that executors are about to read. The smallest batch
 * costs Spark some tenths of a second, and an empty one costs a query with an interval trigger a
 * whole interval.
 */
private[sparkkinesis] object BacklogWait {

  private val ForMore = 200.millis

  /** Executors drop the pages of the last batch, then read the next ones. */
  private val ForFirst = 2.seconds

  /**
   * The part of the executors' memory that a backlog must fill. The rest is room to read on during
   * the batch.
   */
  private val Enough = 3.0 / 8

  /**
   * Whether to wait for more records. A shard from which nothing has been read does not count: the
   * others need not wait for it.
   *
   * @param found by executors
   * @param stores state of the executors' stores at their last report
   * @param waited time since Spark asked for the end of the batch
   * @param left time until the batch is worth its cost; see [[BatchCost]]
   */
  def isWorth(
      found: Found,
      limits: ReadLimits,
      stores: FetchCounters,
      waited: FiniteDuration,
      left: FiniteDuration
  ): Boolean =
    if (found.fresh.isEmpty) waited < ForFirst && (stores.fullStores > 0 || found.behind > 0)
    else {
      val fresh = found.fresh.toVector.map(found.frontiers)
      val behind = fresh.count(_.isBehind)
      // A few shards that lag behind do not delay the others.
      val isCatchingUp = behind > fresh.size - behind
      (waited < ForMore && behind > 0 || left > Duration.Zero && isCatchingUp) &&
      mayGrow(fresh, limits, stores)
    }

  /** Pages on disk cost more than a batch, so a store that writes them has enough. */
  private def mayGrow(
      fresh: Seq[Frontier],
      limits: ReadLimits,
      stores: FetchCounters
  ): Boolean = {
    val (records, bytes) = sums(fresh)
    val stored = bytes + records * PackedRecords.UsualOverhead
    stores.fullStores == 0 && stores.spilledBytes == 0 && limits.allow(records + 1, bytes + 1) &&
    stored < stores.memoryBytes * Enough
  }

  private def sums(fresh: Seq[Frontier]): (Long, Long) =
    fresh.iterator.flatMap(_.marks).foldLeft((0L, 0L)) { case ((records, bytes), mark) =>
      (records + mark.records, bytes + mark.bytes)
    }
}
