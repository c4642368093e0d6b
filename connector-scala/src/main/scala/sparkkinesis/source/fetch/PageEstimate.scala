package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.ServiceLimits

/**
 * What a shard's last page says about the next one.
 *
 * @param readAt when the last page was read
 * @param dataBytes bytes of its data
 * @param bufferedBytes bytes that it takes in the buffer: for small records far more than their data
 */
private[source] final case class PageEstimate(
    readAt: Instant,
    dataBytes: Long,
    bufferedBytes: Long
) {

  /** Estimated bytes of the next page in the buffer. Few pages are more than twice as large. */
  def nextBytes: Long = {
    val likely = math.max(PageEstimate.MinBytes, bufferedBytes * 2)
    math.min(ServiceLimits.GetRecordsBytes.toLong, likely)
  }

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
