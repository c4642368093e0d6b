package sparkkinesis.spark.read

import scala.annotation.tailrec

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.QueryStreams
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.protocol.{Frontier, ReadLimits}
import sparkkinesis.source.watch.WatchService

/**
 * Finds the end of a micro-batch, on the driver.
 *
 * @param stopAtMillis with `Trigger.AvailableNow`: records that arrived later belong to the next
 *   run
 * @param read makes sure that executors read ahead from an offset
 */
private[spark] final class BatchEndFinder(
    ahead: ReadAhead,
    streams: QueryStreams,
    watch: WatchService,
    stopAtMillis: Option[Long],
    read: SourceOffset => Unit
) {
  import BatchEndFinder._

  private var seen = Option.empty[Seen]

  /** @return `from` itself if there is no batch to log */
  def of(from: SourceOffset, limits: ReadLimits): SourceOffset = {
    val frontiers = ahead.frontiers(limits)
    val joined = streams.withJoined(streams.withoutRemoved(from))
    val end =
      if (joined ne from) BatchPlanner.end(joined, due(frontiers), limits)
      else if (stopAtMillis.isEmpty) atOnce(from, limits, frontiers)
      else before(from, limits, frontiers)
    watch.repair(end)
  }

  /** The frontiers, without the records that `Trigger.AvailableNow` leaves to the next run. */
  private def due(frontiers: Map[StreamShard, Frontier]): Map[StreamShard, Frontier] =
    stopAtMillis.fold(frontiers)(Frontier.until(frontiers, _))

  private def atOnce(
      from: SourceOffset,
      limits: ReadLimits,
      frontiers: Map[StreamShard, Frontier]
  ): SourceOffset =
    if (seen.exists(_.isSame(from, frontiers))) from
    else {
      val end = BatchPlanner.end(from, frontiers, limits)
      val next =
        if (end ne from) end
        else BatchPlanner.confirmed(from, frontiers, streams.confirmationPeriod)
      seen = Option.when(next eq from)(Seen(from, frontiers))
      next
    }

  /**
   * Spark ends the query at the first empty answer, so this waits for records that are on their
   * way.
   */
  @tailrec
  private def before(
      from: SourceOffset,
      limits: ReadLimits,
      frontiers: Map[StreamShard, Frontier]
  ): SourceOffset = {
    val end = watch.repair(BatchPlanner.end(from, due(frontiers), limits))
    val isDone = stopAtMillis.forall(BatchPlanner.isDone(from, frontiers, _))
    if (end ne from) end
    else if (isDone && watch.isSettled(from))
      BatchPlanner.confirmed(from, due(frontiers), streams.confirmationPeriod)
    else {
      ahead.awaitNews()
      read(from)
      before(from, limits, ahead.frontiers)
    }
  }
}

private object BatchEndFinder {

  /** An answer without news. Spark asks an idle query a hundred times per second. */
  private final case class Seen(from: SourceOffset, frontiers: Map[StreamShard, Frontier]) {
    def isSame(otherFrom: SourceOffset, otherFrontiers: Map[StreamShard, Frontier]): Boolean =
      (from eq otherFrom) && (frontiers eq otherFrontiers)
  }
}
