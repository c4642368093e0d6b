package sparkkinesis.sink.rate

import org.slf4j.LoggerFactory

import sparkkinesis.model.{ServiceLimits, StreamRef}

/**
 * The size of requests that the server of a stream can handle. All tasks of an executor share it.
 * Thread-safe.
 *
 *   - A request that the server refuses because of its size halves the limit of bytes.
 *   - A request that is not answered in time divides full requests in four, once per round trip:
 *     each executor has at least one request in flight, so only smaller ones are answered sooner.
 *
 * Both end after enough answered requests, because a refusal or an outage may be an exception.
 */
private[sink] final class RequestSize(stream: StreamRef) {
  import RequestSize._

  @volatile private var limit = Unlimited
  @volatile private var divisor = 1

  // Guarded by this object's lock.
  private var acceptedRequests, soonAnswers = 0
  private var dividedAt = Long.MinValue
  private var isLogged = false

  /** Bytes of the largest request that the server may accept. */
  def most: Long = limit

  /** Number of requests that a full request is divided into, by records and by bytes. */
  def parts: Int = divisor

  /**
   * The server answered a request of so many bytes. For the limit, only those near it count.
   *
   * @param isSoon whether a request twice as large would have been answered well in time, too
   */
  def answered(bytes: Long, isSoon: Boolean): Unit =
    if (limit < Unlimited || divisor > 1) synchronized {
      if (bytes > limit / 2) acceptedRequests += 1
      if (acceptedRequests >= RequestsToGrow) {
        acceptedRequests = 0
        limit = if (limit >= ServiceLimits.PutRecordsBytes / 2) Unlimited else limit * 2
      }
      soonAnswers = if (isSoon) soonAnswers + 1 else 0
      if (soonAnswers >= RequestsToGrow) {
        soonAnswers = 0
        divisor = math.max(1, divisor / 2)
      }
    }

  /** The server did not answer a request in time. */
  def unanswered(sentAt: Long, now: Long): Unit = synchronized {
    soonAnswers = 0
    if (sentAt >= dividedAt) {
      dividedAt = now
      divisor = math.min(MostParts, divisor * Reduction)
    }
  }

  /** The server refused a request of several records because of its size. */
  def refused(bytes: Long): Unit = synchronized {
    if (bytes / 2 < limit) {
      limit = bytes / 2
      acceptedRequests = 0
      if (!isLogged)
        log.warn(
          s"The server of stream $stream refuses requests of $bytes bytes (HTTP 413). The sink " +
            "halves its request size. To avoid these attempts, set 'maxRequestBytes' to the " +
            "server's limit."
        )
      isLogged = true
    }
  }
}

private object RequestSize {
  private val log = LoggerFactory.getLogger(classOf[RequestSize])
  private val Unlimited = Long.MaxValue
  private val RequestsToGrow = 100

  /** Large, because each step costs the requests of a round trip. */
  private val Reduction = 4

  /** 31 records: with smaller requests, most of the time would be that of the request itself. */
  private val MostParts = 16
}
