package sparkkinesis.sink.rate

import scala.collection.mutable

import org.slf4j.LoggerFactory

import sparkkinesis.model.StreamRef

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

/**
 * The size of requests that the server of a stream can handle: the number of parts that a full
 * request is divided into, by records and by bytes. All tasks of an executor share it. Thread-safe.
 *
 *   - A request that the server refuses because of its size makes full requests half as large as
 *     that one.
 *   - A request that is not answered in time divides full requests in four, once per round trip:
 *     each executor has at least one request in flight, so only smaller ones are answered sooner.
 *
 * The number is halved after enough good answers to large requests, because a refusal or an outage
 * may be an exception.
 */
private[sink] final class RequestSize(stream: StreamRef) {
  import RequestSize._

  @volatile private var divisor = 1

  // Guarded by this object's lock.
  private var goodAnswers = 0
  private var dividedAt = Long.MinValue
  private var isLogged = false

  def parts: Int = divisor

  /**
   * The server answered a request. A small one says nothing about larger ones.
   *
   * @param fullness its size, as a fraction of the largest request that the options allow
   * @param isSoon whether a request twice as large would have been answered well in time, too
   */
  def answered(fullness: Double, isSoon: Boolean): Unit = if (divisor > 1) synchronized {
    if (!isSoon) goodAnswers = 0
    else if (fullness * divisor >= LargePart) goodAnswers += 1
    if (goodAnswers >= AnswersToGrow) {
      goodAnswers = 0
      divisor = math.max(1, divisor / 2)
    }
  }

  /** The server did not answer a request in time. */
  def unanswered(sentAt: Long, now: Long): Unit = synchronized {
    if (sentAt >= dividedAt) {
      dividedAt = now
      divideInto(math.min(MostParts, divisor * Reduction))
    }
    goodAnswers = 0
  }

  /**
   * The server refused a request of several records because of its size.
   *
   * @param fullness its size, as a fraction of the largest request that the options allow
   */
  def refused(bytes: Long, fullness: Double): Unit = synchronized {
    divideInto(math.ceil(2 / fullness).toInt)
    if (!isLogged)
      log.warn(
        s"The server of stream $stream refuses requests of $bytes bytes (HTTP 413). The sink " +
          "halves its request size. To avoid these attempts, set 'maxRequestBytes' to the " +
          "server's limit."
      )
    isLogged = true
  }

  private def divideInto(parts: Int): Unit = if (parts > divisor) {
    divisor = parts
    goodAnswers = 0
  }
}

private object RequestSize {
  private val log = LoggerFactory.getLogger(classOf[RequestSize])
  private val AnswersToGrow = 100

  /** A request of at least this part of the present limit is a large one. */
  private val LargePart = 0.5

  /** Large, because each step costs the requests of a round trip. */
  private val Reduction = 4

  /** 31 records: with smaller requests, most of the time would be that of the request itself. */
  private val MostParts = 16
}
