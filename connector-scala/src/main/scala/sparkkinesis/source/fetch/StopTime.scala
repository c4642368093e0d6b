package sparkkinesis.source.fetch

import java.time.Instant

import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model.{ArrivalTimes, PackedRecords}

/**
 * Where a query with `Trigger.AvailableNow` stops reading a shard.
 *
 * @param millis of the query's stop time, if it has one
 */
private[source] final class StopTime(millis: Option[Long]) {
  @volatile private var reached = false

  /** The time, before which no unread record has arrived once the stop is reached. */
  val at: Option[Instant] = millis.map(Instant.ofEpochMilli)

  /** Whether a page had a record after all records that arrived by the stop time. */
  def isReached: Boolean = reached

  /**
   * The page up to such a record, if it has one. The rest would occupy the store until the query
   * ends, because no batch reads it.
   */
  def cut(page: Page): Option[Page] = {
    val records = PackedRecords(page.records)
    millis
      .map(ArrivalTimes.lastDoubt)
      .map(last => records.take(records.countWhile(records.arrivalMillis(_) <= last)))
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
