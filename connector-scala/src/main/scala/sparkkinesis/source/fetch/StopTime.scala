package sparkkinesis.source.fetch

import java.time.Instant

import sparkkinesis.client.{Page, ShardIterator}
import sparkkinesis.model.{ArrivalTimes, PackedRecords}

/**
 * Where a query with `Trigger.AvailableNow` stops reading a shard: it reads each record that
 * arrived by the stop time, and some that arrived up to [[ArrivalTimes.Margin]] later.
 *
 * @param millis of the query's stop time, if it has one
 */
private[source] final class StopTime(millis: Option[Long]) {
  @volatile private var reached = false
  private val lastDoubt = millis.map(ArrivalTimes.lastDoubt)

  /** `completeAsOf` of the shard once the stop is reached. */
  val completeAsOf: Option[Instant] = lastDoubt.map(Instant.ofEpochMilli)

  /** Whether all records that had arrived by the stop time are stored. */
  def isReached: Boolean = reached

  /** The part of a page that `cut` returned is stored. */
  def reach(): Unit = reached = true

  /**
   * The page up to a record after which none arrived by the stop time, if it has such a record. The
   * rest would occupy the store until the query ends, because no batch reads it.
   */
  def cut(page: Page): Option[Page] = {
    val records = PackedRecords(page.records)
    lastDoubt
      .map(last => records.take(records.countWhile(records.arrivalMillis(_) <= last)))
      .filter(_.size < records.size)
      .map(Page(_, page.next.orElse(Some(StopTime.NoEnd)), 0, Seq.empty))
  }
}

private[source] object StopTime {

  /** Stands for a next iterator in a page after the stop, because the shard has not ended. */
  val NoEnd: ShardIterator = ShardIterator("")
}
