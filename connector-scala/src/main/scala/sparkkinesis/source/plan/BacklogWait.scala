package sparkkinesis.source.plan

import scala.concurrent.duration._

import sparkkinesis.model.{PackedRecords, StreamShard}
import sparkkinesis.source.protocol.{FetchCounters, Frontier, ReadLimits}

/**
 * Decides whether a batch waits for pages that executors are about to read. The smallest batch costs
 * Spark some tenths of a second, and an empty one costs a query with an interval trigger a whole interval.
 */
object BacklogWait {

  /** A shard further behind its tip has a backlog. */
  private val BacklogMillis = 1000L
  private val ForMore = 200.millis

  /** Executors drop the pages of the last batch, then read the next ones. */
  private val ForFirst = 2.seconds

  /** Of the executors' memory. The rest is room to read on during the batch. */
  private val Enough = 3.0 / 8

  /**
   * Whether to wait for more records. A shard from which nothing has been read does not count: the
   * others need not wait for it.
   *
   * @param stores state of the executors' stores at their last report
   * @param waited time since Spark asked for the end of the batch
   * @param left time until the batch is worth its cost; see [[BatchCost]]
   */
  def isWorth(
      frontiers: Map[StreamShard, Frontier],
      limits: ReadLimits,
      stores: FetchCounters,
      waited: FiniteDuration,
      left: FiniteDuration
  ): Boolean =
    if (frontiers.valuesIterator.forall(_.marks.isEmpty))
      waited < ForFirst && (stores.fullStores > 0 || frontiers.valuesIterator.exists(isBehind))
    else
      (waited < ForMore && found(frontiers).exists(isBehind) ||
        left > Duration.Zero && isCatchingUp(frontiers)) && mayGrow(frontiers, limits, stores)

  /** The end of a shard is not behind: there is nothing more to wait for. */
  private def isBehind(frontier: Frontier): Boolean =
    frontier.millisBehindLatest > BacklogMillis && !frontier.isFinished

  /** A few shards that lag behind do not delay the others. */
  private def isCatchingUp(frontiers: Map[StreamShard, Frontier]): Boolean = {
    val (behind, current) = found(frontiers).partition(isBehind)
    behind.size > current.size
  }

  /** The shards with something to plan. */
  private def found(frontiers: Map[StreamShard, Frontier]): Seq[Frontier] =
    frontiers.valuesIterator.filter(_.marks.nonEmpty).toSeq

  /** Pages on disk cost more than a batch, so a store that writes them has enough. */
  private def mayGrow(
      frontiers: Map[StreamShard, Frontier],
      limits: ReadLimits,
      stores: FetchCounters
  ): Boolean = {
    val (records, bytes) = sums(frontiers)
    val stored = bytes + records * PackedRecords.UsualOverhead
    stores.fullStores == 0 && stores.spilledBytes == 0 && limits.allow(records + 1, bytes + 1) &&
    stored < stores.memoryBytes * Enough
  }

  private def sums(frontiers: Map[StreamShard, Frontier]): (Long, Long) =
    frontiers.valuesIterator.flatMap(_.marks).foldLeft((0L, 0L)) { case ((records, bytes), mark) =>
      (records + mark.records, bytes + mark.bytes)
    }
}
