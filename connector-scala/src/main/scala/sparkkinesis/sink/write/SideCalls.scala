package sparkkinesis.sink.write

import scala.collection.mutable

import sparkkinesis.sink.lane.Lane

/** The calls of a loop besides `PutRecords`: at most one of a kind at a time per stream. */
private[write] final class SideCalls(driver: WriteDriver) {
  private val listing = mutable.Set.empty[StreamWriter]
  private val recovering = mutable.Set.empty[StreamWriter]

  /**
   * Makes the calls that are due.
   *
   * @return when the next look into a stream is due; `Never` if none is
   */
  def start(streams: Seq[StreamWriter], now: Long): Long = {
    streams.foreach(it => if (it.needsShards(now) && listing.add(it)) driver.list(it, it.shards))
    val (due, later) = streams.partition(_.recoverAt <= now)
    due.foreach(it => if (recovering.add(it)) driver.recover(it, now))
    later.foldLeft(Lane.Never)((at, it) => math.min(at, it.recoverAt))
  }

  def listed(stream: StreamWriter): Unit = listing -= stream

  def recovered(stream: StreamWriter): Unit = recovering -= stream
}
