package sparkkinesis.source.fetch

import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model.PackedRecords

/**
 * Where a query with `Trigger.AvailableNow` stops reading a shard.
 *
 * @param millis of the query's stop time, if it has one
 */
private[source] final class StopTime(millis: Option[Long]) {
  @volatile private var reached = false

  /** Whether a page had records that arrived later. */
  def isReached: Boolean = reached

  /**
   * The page without the records that arrived later, if it has such records. They would occupy the
   * store until the query ends, because no batch reads them.
   */
  def cut(page: Page): Option[Page] = {
    val records = PackedRecords(page.records)
    millis
      .map(stop => records.take(records.countWhile(records.arrivalMillis(_) <= stop)))
      .filter(_.size < records.size)
      .map { wanted =>
        reached = true
        Page(wanted, page.next.orElse(Some(StopTime.NoEnd)), 0, Seq.empty)
      }
  }
}

private[source] object StopTime {

  /** Stands for a next iterator in a page after the stop, because the shard has not ended. */
  val NoEnd: ShardIterator = ShardIterator("")
}
