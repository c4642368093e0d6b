package sparkkinesis.spark.read

import scala.annotation.tailrec

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.QueryStreams
import sparkkinesis.source.plan.BatchPlanner
import sparkkinesis.source.protocol.{Frontier, ReadLimits}
import sparkkinesis.source.watch.WatchService

/**
 * Finds the end of one of a query's many batches.
 *
 * @param stopAtMillis with `Trigger.AvailableNow`: what arrived later is the next run's
 * @param begin makes sure that reading ahead goes on from there
 */
private[spark] final class BatchEndFinder(
    ahead: ReadAhead,
    streams: QueryStreams,
    watch: WatchService,
    stopAtMillis: Option[Long],
    begin: SourceOffset => Unit
) {
  import BatchEndFinder._

  private var seen = Option.empty[Seen]

  /** @return `from` itself where there is nothing to log */
  def of(from: SourceOffset, limits: ReadLimits): SourceOffset = {
    val frontiers = ahead.frontiers(limits)
    val joined = streams.joined(streams.kept(from))
    val end =
      if (joined ne from) BatchPlanner.end(joined, due(frontiers), limits)
      else if (stopAtMillis.isEmpty) atOnce(from, limits, frontiers)
      else before(from, limits, frontiers)
    watch.repair(end)
  }

  /** Without what a query with `Trigger.AvailableNow` leaves to the next one. */
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

  /** Spark ends the query at the first answer without news: this one waits for what is on its way. */
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
      begin(from)
      before(from, limits, ahead.frontiers)
    }
  }
}

private object BatchEndFinder {

  /** There was nothing new in it: an idle query is asked a hundred times a second, and need not look again. */
  private final case class Seen(from: SourceOffset, frontiers: Map[StreamShard, Frontier]) {
    def isSame(otherFrom: SourceOffset, otherFrontiers: Map[StreamShard, Frontier]): Boolean =
      (from eq otherFrom) && (frontiers eq otherFrontiers)
  }
}
