package sparkkinesis.spark.read

import org.apache.spark.sql.connector.read.InputPartition

import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.QueryStreams
import sparkkinesis.source.plan.BatchPlanner

/**
 * The batch that was planned last: its tasks, and the pages that executors keep until it is done.
 * Only the query's thread uses it.
 */
private[spark] final class PlannedBatch(streams: QueryStreams, ahead: => ReadAhead) {
  import PlannedBatch._

  private var planned = Option.empty[Plan]
  private var hasPages = false

  /**
   * The tasks that read between the offsets. Spark asks several times, so they are planned once.
   */
  def partitions(from: SourceOffset, upTo: SourceOffset): Seq[InputPartition] =
    planned.filter(_.isOf(from, upTo)).map(_.partitions).getOrElse {
      streams.check(from)
      streams.check(upTo)
      val partitions = ahead.partitions(BatchPlanner.ranges(from, upTo))
      ahead.advance(tipAt(from), tipAt(upTo))
      planned = Some(Plan(from, upTo, partitions))
      hasPages = true
      partitions
    }

  /**
   * Executors drop the pages of the batch, which is done. They would keep them until the next
   * trigger otherwise, and have no room to read on.
   */
  def release(): Unit =
    if (hasPages) {
      hasPages = false
      ahead.batchDone()
      planned.map(batch => tipAt(batch.upTo)).foreach(end => ahead.advance(end, end))
    }

  def endsAt(offset: SourceOffset): Boolean = planned.exists(_.upTo == offset)

  private def tipAt(offset: SourceOffset): SourceOffset =
    streams.withoutReportedLoss(streams.withoutRemoved(offset))
}

private object PlannedBatch {
  private final case class Plan(
      from: SourceOffset,
      upTo: SourceOffset,
      partitions: Seq[InputPartition]
  ) {
    def isOf(otherFrom: SourceOffset, otherUpTo: SourceOffset): Boolean =
      from == otherFrom && upTo == otherUpTo
  }
}
