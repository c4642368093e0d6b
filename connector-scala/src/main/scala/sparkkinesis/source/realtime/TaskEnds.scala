package sparkkinesis.source.realtime

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.protocol.{Frontier, Mark, ReadLimits}

/** Where a real-time batch ends: its tasks decide, and not a plan. */
private[sparkkinesis] object TaskEnds {

  /**
   * @param start of the batch
   * @param ends of its tasks
   * @param confirmationPeriod how often an offset without news says that all records are read
   * @return `start` itself if there is nothing new
   */
  def joined(
      start: SourceOffset,
      ends: Seq[ReadUpTo],
      confirmationPeriod: FiniteDuration
  ): SourceOffset = {
    val before = start.readable
    val frontiers = ends.map { end =>
      val hasMoved = before.get(end.shard).exists(_ != end.upTo)
      val mark = Mark(end.upTo, 1, 1, end.completeAsOfMillis)
      val marks = if (hasMoved) Vector(mark) else Vector.empty
      end.shard ->
        Frontier(marks, end.children, end.millisBehind, end.completeAsOfMillis, end.first)
    }.toMap
    val next = BatchPlanner.end(start, frontiers, ReadLimits.None)
    if (next ne start) next else BatchPlanner.confirmed(start, frontiers, confirmationPeriod)
  }
}
