package sparkkinesis.source.plan

import scala.concurrent.duration._

import sparkkinesis.model.{PackedRecords, StreamShard}
import sparkkinesis.source.protocol.{Frontier, ReadLimits}

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

  /**
   * Whether to wait for more records. A shard from which nothing has been read does not count: the
   * others need not wait for it.
   *
   * @param enough bytes in the executors' stores that are worth a batch
   * @param isFull whether an executor had no room to read on at its last report
   * @param waited time since Spark asked for the end of the batch
   */
  def isWorth(
      frontiers: Map[StreamShard, Frontier],
      limits: ReadLimits,
      enough: Long,
      isFull: Boolean,
      waited: FiniteDuration
  ): Boolean =
    if (frontiers.valuesIterator.forall(_.marks.isEmpty))
      waited < ForFirst && (isFull || frontiers.valuesIterator.exists(isBehind))
    else {
      val (records, bytes) = sums(frontiers)
      val stored = bytes + records * PackedRecords.UsualOverhead
      val mayGrow = !isFull && stored < enough && limits.allow(records + 1, bytes + 1)
      val isBacklog = frontiers.valuesIterator.exists(f => isBehind(f) && f.marks.nonEmpty)
      waited < ForMore && mayGrow && isBacklog
    }

  private def isBehind(frontier: Frontier): Boolean = frontier.millisBehindLatest > BacklogMillis

  private def sums(frontiers: Map[StreamShard, Frontier]): (Long, Long) =
    frontiers.valuesIterator.flatMap(_.marks).foldLeft((0L, 0L)) { case ((records, bytes), mark) =>
      (records + mark.records, bytes + mark.bytes)
    }
}
