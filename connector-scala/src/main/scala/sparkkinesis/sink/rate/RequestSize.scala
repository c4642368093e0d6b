package sparkkinesis.sink.rate

import org.slf4j.LoggerFactory

import sparkkinesis.model.StreamRef

/**
 * The size of requests that the server of a stream can handle: the number of parts that a full
 * request is divided into, by records and by bytes. All tasks of an executor share it. Thread-safe.
 *
 *   - A request that the server refuses because of its size makes full requests half as large as
 *     that one.
 *   - A request that is not answered in time divides full requests in four, once per round trip:
 *     each executor has at least one request in flight, so only smaller ones are answered sooner.
 *
 * The number is halved after enough good answers, because a refusal or an outage may be an
 * exception.
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
   * The server answered a request.
   *
   * @param isSoon whether a request twice as large would have been answered well in time, too
   */
  def answered(isSoon: Boolean): Unit = if (divisor > 1) synchronized {
    goodAnswers = if (isSoon) goodAnswers + 1 else 0
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

  /** Large, because each step costs the requests of a round trip. */
  private val Reduction = 4

  /** 31 records: with smaller requests, most of the time would be that of the request itself. */
  private val MostParts = 16
}
