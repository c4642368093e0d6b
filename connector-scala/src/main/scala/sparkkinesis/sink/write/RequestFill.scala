package sparkkinesis.sink.write

import sparkkinesis.sink.lane.RequestLimits

/**
 * Tells when a stream may have enough records for a full request, without a look at its lanes.
 *
 * @param limits of the next request
 */
private[write] final class RequestFill(limits: () => RequestLimits) {

  // No request can be full before so many more records or bytes were added.
  private var recordsMissing = 0L
  private var bytesMissing = 0L

  def mayBeFull: Boolean = recordsMissing <= 0 || bytesMissing <= 0

  def added(size: Long): Unit = {
    recordsMissing -= 1
    bytesMissing -= size
  }

  /** The lanes must be looked at: what they may send has changed. */
  def unknown(): Unit = recordsMissing = 0

  /** Counts a whole request from now on. */
  def restart(): Unit = {
    recordsMissing = limits().records.toLong
    bytesMissing = limits().bytes
  }

  /** Notes how much is ready to be sent. */
  def ready(records: Long, bytes: Long): Unit = {
    recordsMissing = limits().records - records
    // A few more, so that not every record leads to another look at the lanes.
    if (recordsMissing > 0)
      recordsMissing = math.max(recordsMissing, limits().records / RequestFill.LookFraction)
    bytesMissing = limits().bytes - bytes
  }
}

private object RequestFill {
  val LookFraction = 16L
}
