package sparkkinesis.spark

import scala.annotation.tailrec

import sparkkinesis.model.SourceOffset
import sparkkinesis.source.OneBatch

/** The end of the only batch of a query with `Trigger.Once`. */
private[spark] object OnceEnd {

  /**
   * Waits until all that had arrived by that time is known: reading may take as long as it does. Room for
   * more is made whenever executors have none: tasks will read those pages again.
   *
   * @return `start.settled` itself where nothing had arrived
   */
  def of(ahead: ReadAhead, start: SourceOffset, stopAtMillis: Long): SourceOffset = {
    @tailrec def further(batch: OneBatch, refusals: Long): OneBatch =
      if (batch.isDone) batch
      else {
        ahead.goOn(batch.pagesFrom, batch.tip)
        val refused = ahead.refusals
        val next = batch.further(ahead.frontiers, isFull = refused > refusals)
        if (next eq batch) ahead.awaitNews()
        further(next, refused)
      }
    further(OneBatch.from(start, stopAtMillis), ahead.refusals).end
  }
}
