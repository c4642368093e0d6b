package sparkkinesis.sink.rate

import scala.collection.mutable

/**
 * How many requests all tasks of an executor may have in flight to one stream. Thread-safe.
 *
 * A server that is asked for more than it can do answers later and later, until requests time out
 * and all their work is in vain. So an answer that took too long, or none at all, halves the limit,
 * once per round trip. Before that each answer raises it by one, and afterwards each round trip.
 *
 * Tasks that wait for others take turns.
 *
 * @param writers number of executors that are expected to write to the stream
 */
private[sink] final class RequestLimit(writers: Int) {
  import RequestLimit._

  private var limit = math.max(1.0, First / writers)
  private var inFlight = 0
  private var isFirstRise = true
  private var shortest = Long.MaxValue // milliseconds
  private var loweredAt = Long.MinValue

  /** The tasks that wait, in the order of their turns, and when they asked last. */
  private val waiting = mutable.LinkedHashMap.empty[AnyRef, Long]

  /** The number of requests that were begun and have not ended. */
  def current: Int = synchronized(inFlight)

  /**
   * Counts a request of the task, if it may be sent now. Otherwise the task waits for its turn, as
   * long as it asks again.
   */
  def begin(task: AnyRef, now: Long): Boolean = synchronized {
    waiting(task) = now
    waiting --= waiting.collect { case (other, askedAt) if askedAt < now - Silence => other }
    val free = math.ceil(limit).toInt - inFlight
    val isAllowed = waiting.keysIterator.take(free).contains(task)
    if (isAllowed) {
      waiting -= task
      inFlight += 1
    }
    isAllowed
  }

  /** The task has ended. */
  def leave(task: AnyRef): Unit = synchronized(waiting -= task): Unit

  /** A request was not sent, or its answer is not awaited any more. */
  def cancelled(): Unit = synchronized(inFlight -= 1)

  /** A request was answered, whatever the answer was. */
  def answered(sentAt: Long, now: Long): Unit = synchronized {
    val isUsed = inFlight >= limit - 1
    inFlight -= 1
    shortest = math.min(shortest, math.max(1L, now - sentAt))
    if (now - sentAt > longRoundTrip) lower(sentAt, now)
    else if (isUsed) limit += (if (isFirstRise) 1.0 else 1 / limit)
  }

  /** A request remains without an answer. */
  def unanswered(sentAt: Long, now: Long): Unit = synchronized {
    inFlight -= 1
    lower(sentAt, now)
  }

  private def longRoundTrip =
    math.min(LongestRoundTrip, math.max(LongRoundTrip, 2 * shortest))

  private def lower(sentAt: Long, now: Long): Unit = if (sentAt >= loweredAt) {
    limit = math.max(1.0, limit / 2)
    isFirstRise = false
    loweredAt = now
  }
}

private object RequestLimit {

  /**
   * First limit of all executors together: so few requests that a slow server answers them before
   * they time out.
   */
  private val First = 8.0

  /**
   * A long round trip in milliseconds. The service needs less, except for large requests over slow
   * networks.
   */
  private val LongRoundTrip = 1000L

  /**
   * The longest accepted round trip in milliseconds, also if no answer was faster: a quarter of the
   * default timeout.
   */
  private val LongestRoundTrip = 2500L

  /**
   * Milliseconds without a question after which a waiting task counts as ended. A task that waits
   * asks much more often.
   */
  private val Silence = 200L
}
