package sparkkinesis.source.plan

import scala.concurrent.duration._

/**
 * Finds out whether the executors' stores limit a query: they were full when a batch ended or when
 * an interval trigger fired. Such a query may fall behind. Used by one thread at a time.
 *
 * @param streams names for the message
 */
private[sparkkinesis] final class FullStoreWarning(streams: String) {
  import FullStoreWarning._

  private var plannedAt = Option.empty[FiniteDuration]
  private var warnedAt = Option.empty[FiniteDuration]

  /** A batch begins. */
  def planned(now: FiniteDuration): Unit = plannedAt = Some(now)

  /**
   * Spark asks for the next batch.
   *
   * @param fullStores number of executors that had no room to read on
   * @return a warning, at most once per ten minutes. None for short batches, which follow each
   *   other before a store of any size matters
   */
  def asked(now: FiniteDuration, fullStores: Long): Option[String] = {
    val period = plannedAt.map(now - _)
    plannedAt = None
    val isDue = warnedAt.forall(now - _ >= WarningPeriod)
    period.filter(_ >= LongBatch && fullStores > 0 && isDue).map { time =>
      warnedAt = Some(now)
      s"$fullStores executors have no room to read $streams further ahead, ${time.toSeconds} s " +
        "after the last micro-batch began. The remaining records wait in Kinesis. If the query " +
        "falls behind, raise 'fetchSpillSize' or 'fetchBufferSize', use a shorter trigger " +
        "interval, or add executors."
    }
  }
}

private[sparkkinesis] object FullStoreWarning {
  private val LongBatch = 5.seconds
  private val WarningPeriod = 10.minutes
}
