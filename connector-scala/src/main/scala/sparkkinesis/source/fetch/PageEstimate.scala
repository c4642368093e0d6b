package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.ServiceLimits
import sparkkinesis.source.memory.FetchMemory

/**
 * What a shard's pages say about the next one.
 *
 * @param readAt when the last page was read, by a clock that never jumps
 * @param dataBytes bytes of its data
 * @param bufferedBytes bytes of recent pages in the store: for small records far more than their
 *   data
 */
private[source] final case class PageEstimate(
    readAt: Instant,
    dataBytes: Long,
    bufferedBytes: Long
) {

  /** Expected bytes of the next page in the store: a little more than recent pages. */
  def nextBytes: Long = {
    val likely = math.max(PageEstimate.MinBytes, bufferedBytes * 9 / 8)
    math.min(FetchMemory.LargestPage, likely)
  }

  /** After another page. The estimate rises at once and falls slowly. */
  def after(now: Instant, data: Long, buffered: Long): PageEstimate =
    PageEstimate(now, data, math.max(buffered, bufferedBytes * 7 / 8))

  /** Time until the read quota allows another call: a page of 10 MB uses five seconds of it. */
  def quotaPause(now: Instant): FiniteDuration = {
    val quotaMillis = dataBytes * 1000 / ServiceLimits.ReadBytesPerSecond
    val elapsed = now.toEpochMilli - readAt.toEpochMilli
    math.max(0, quotaMillis - elapsed).millis
  }
}

private[source] object PageEstimate {
  private val MinBytes = 64L * 1024
}
