package sparkkinesis.sink.rate

/**
 * How many requests all tasks of an executor may have in flight to one stream. Thread-safe.
 *
 * A server that is asked for more than it can do answers later and later, until requests time out
 * and all their work is in vain. So an answer that took too long, or none at all, halves the limit,
 * once per round trip. Before that each answer raises it by one, and afterwards each round trip.
 *
 * A task may always have one request in flight, so that no task waits for the others for ever.
 */
private[sink] final class RequestLimit {
  import RequestLimit._

  private var limit = First
  private var inFlight = 0
  private var isFirstRise = true
  private var shortest = Long.MaxValue // milliseconds
  private var loweredAt = Long.MinValue

  /** The number of requests that were begun and have not ended. */
  def current: Int = synchronized(inFlight)

  /**
   * Counts a request, if it may be sent now.
   *
   * @param own number of requests that the task has in flight
   */
  def begin(own: Int): Boolean = synchronized {
    val isAllowed = own == 0 || inFlight < limit
    if (isAllowed) inFlight += 1
    isAllowed
  }

  /** A request was not sent, or its answer is not awaited any more. */
  def cancelled(): Unit = synchronized(inFlight -= 1)

  /** A request was answered, whatever the answer was. */
  def answered(sentAt: Long, now: Long): Unit = synchronized {
    val isUsed = inFlight >= limit - 1
    inFlight -= 1
    shortest = math.min(shortest, math.max(1L, now - sentAt))
    if (now - sentAt > math.max(LongRoundTrip, 2 * shortest)) lower(sentAt, now)
    else if (isUsed) limit += (if (isFirstRise) 1.0 else 1 / limit)
  }

  /** A request remains without an answer. */
  def unanswered(sentAt: Long, now: Long): Unit = synchronized {
    inFlight -= 1
    lower(sentAt, now)
  }

  private def lower(sentAt: Long, now: Long): Unit = if (sentAt >= loweredAt) {
    limit = math.max(1.0, limit / 2)
    isFirstRise = false
    loweredAt = now
  }
}

private object RequestLimit {

  /** Few enough that a slow server answers them before they time out. */
  private val First = 8.0

  /** In milliseconds. The service needs less, except for large requests over slow networks. */
  private val LongRoundTrip = 1000L
}
