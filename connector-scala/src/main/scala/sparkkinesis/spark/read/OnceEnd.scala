package sparkkinesis.spark.read

import scala.annotation.tailrec

import sparkkinesis.model.offset.SourceOffset
import sparkkinesis.source.checkpoint.QueryStreams
import sparkkinesis.source.plan.{BatchPlanner, OneBatch}
import sparkkinesis.source.protocol.Frontier
import sparkkinesis.source.watch.WatchService

/**
 * Finds the end of the only batch of a query with `Trigger.Once`.
 *
 * @param stopAtMillis what arrived later is the next run's
 */
private[spark] final class OnceEnd(
    ahead: ReadAhead,
    streams: QueryStreams,
    watch: WatchService,
    stopAtMillis: Long
) {

  /**
   * Waits until all that had arrived is known: reading may take as long as it does. Room for more is
   * made whenever executors have none: tasks will read those pages again.
   *
   * @param start where reading ahead has begun
   * @return `start` itself where there is nothing to log
   */
  def of(start: SourceOffset): SourceOffset = {
    val end = further(OneBatch.from(start, stopAtMillis), ahead.refusals).end
    audited(start, if (end ne start.settled) end else confirmed(start))
  }

  @tailrec private def further(batch: OneBatch, refusals: Long): OneBatch =
    if (batch.isDone) batch
    else {
      ahead.goOn(streams.told(batch.pagesFrom), streams.told(batch.tip))
      val refused = ahead.refusals
      val next = batch.further(ahead.frontiers, isFull = refused > refusals)
      if (next eq batch) ahead.awaitNews()
      further(next, refused)
    }

  private def confirmed(start: SourceOffset): SourceOffset = {
    val due = Frontier.until(ahead.frontiers, stopAtMillis)
    BatchPlanner.confirmed(start, due, streams.confirmationPeriod)
  }

  /** A doubt about the stream's shards is settled before the run ends. */
  @tailrec private def audited(start: SourceOffset, end: SourceOffset): SourceOffset = {
    val mended = watch.mended(end)
    if ((mended ne end) || watch.hasSettled(start)) mended
    else {
      ahead.awaitNews()
      audited(start, end)
    }
  }
}
