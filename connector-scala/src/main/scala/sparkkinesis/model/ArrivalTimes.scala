package sparkkinesis.model

import scala.concurrent.duration._

/** What the connector assumes about the arrival times of records. AWS guarantees nothing. */
private[sparkkinesis] object ArrivalTimes {

  /**
   * All readers see a record at most this time after its arrival time, which is never in the
   * future. AWS states that a record is usually visible in less than one second.
   *
   * It follows that the arrival times within a shard fall by at most this time: a record that comes
   * later in the shard arrived, by its own time, at most this time before an earlier one. So a
   * reader that looks for the records up to a time begins this much later, and reads up to the
   * first record that arrived more than this time later.
   */
  val Margin: FiniteDuration = 1.second

  /** If a record arrived later than this, no record after it arrived at the time or before. */
  def lastDoubt(millis: Long): Long = millis + Margin.toMillis

  /** How long to wait until each record that arrived by a time is visible; 0 if it is now. */
  def untilVisible(by: Long, now: Long): FiniteDuration = (lastDoubt(by) - now).max(0L).millis
}
