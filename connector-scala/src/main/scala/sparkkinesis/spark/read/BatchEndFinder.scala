package sparkkinesis.spark.read

import scala.annotation.tailrec
import scala.concurrent.duration.FiniteDuration

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.QueryStreams
import sparkkinesis.source.plan.{BatchPlanner, ShardSkew}
import sparkkinesis.source.protocol.{Frontier, ReadLimits}
import sparkkinesis.source.watch.WatchService

/**
 * Finds the end of a micro-batch, on the driver.
 *
 * @param skew how far a shard may be read beyond others, if that is limited
 * @param hasStopTime with `Trigger.AvailableNow`: the query ends when executors have read up to it
 * @param read makes sure that executors read ahead from an offset
 */
private[spark] final class BatchEndFinder(
    ahead: BatchEndFinder.Ahead,
    streams: QueryStreams,
    watch: WatchService,
    skew: Option[FiniteDuration],
    hasStopTime: Boolean,
    read: SourceOffset => Unit
) {
  import BatchEndFinder._

  private var seen = Option.empty[Seen]
  private var asked = Option.empty[SourceOffset]
  private var readAhead = Option.empty[(Seen, KinesisOffset)]

  /** @return `from` itself if there is no batch to log */
  def of(from: SourceOffset, limits: ReadLimits): SourceOffset = {
    asked = Some(from)
    val frontiers = ahead.frontiers(limits)
    val joined = streams.withJoined(streams.withoutRemoved(from))
    val next =
      if (joined ne from) end(joined, frontiers, limits)
      else if (hasStopTime) before(from, limits, frontiers)
      else atOnce(from, limits, frontiers)
    val repaired = watch.repair(next)
    if (repaired ne from) ahead.foundEnd(repaired)
    repaired
  }

  /**
   * The end of all that executors have read ahead, whatever the limits of a batch are: how far the
   * query could be. `None` before the first call of `of`. Returns the same object while nothing
   * changes.
   */
  def latest: Option[KinesisOffset] = asked.map { from =>
    val frontiers = ahead.frontiers
    readAhead.filter(_._1.isSame(from, frontiers)) match {
      case Some((_, known)) => known
      case None =>
        val offset = KinesisOffset(BatchPlanner.end(from, frontiers, ReadLimits.None))
        readAhead = Some(Seen(from, frontiers) -> offset)
        offset
    }
  }

  private def end(
      from: SourceOffset,
      frontiers: Map[StreamShard, Frontier],
      limits: ReadLimits
  ): SourceOffset = {
    val taken = skew.fold(frontiers)(ShardSkew.limited(from, frontiers, limits, _))
    BatchPlanner.end(from, taken, limits)
  }

  private def atOnce(
      from: SourceOffset,
      limits: ReadLimits,
      frontiers: Map[StreamShard, Frontier]
  ): SourceOffset =
    if (seen.exists(_.isSame(from, frontiers))) from
    else {
      val planned = end(from, frontiers, limits)
      val next =
        if (planned ne from) planned
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
    val planned = watch.repair(end(from, frontiers, limits))
    val isDone = BatchPlanner.isDone(from, frontiers)
    if (planned ne from) planned
    else if (isDone && watch.isSettled(from))
      BatchPlanner.confirmed(from, frontiers, streams.confirmationPeriod)
    else {
      ahead.awaitNews()
      read(from)
      before(from, limits, ahead.frontiers)
    }
  }
}

private[spark] object BatchEndFinder {

  /** What executors have read ahead. */
  trait Ahead {

    /** The same object while nothing changes. */
    def frontiers: Map[StreamShard, Frontier]

    /** The frontiers, perhaps after a wait for more of a backlog. */
    def frontiers(limits: ReadLimits): Map[StreamShard, Frontier]

    /** Waits up to 100 ms for a report of an executor. */
    def awaitNews(): Unit

    /** The end of a batch was found. */
    def foundEnd(end: SourceOffset): Unit
  }

  /** What an answer depends on. Spark asks an idle query a hundred times per second. */
  private final case class Seen(from: SourceOffset, frontiers: Map[StreamShard, Frontier]) {
    def isSame(otherFrom: SourceOffset, otherFrontiers: Map[StreamShard, Frontier]): Boolean =
      (from eq otherFrom) && (frontiers eq otherFrontiers)
  }
}
