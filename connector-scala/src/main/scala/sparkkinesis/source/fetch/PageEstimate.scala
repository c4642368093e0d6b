package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.ServiceLimits

/**
 * What a shard's last page tells about its next one.
 *
 * @param bytes of its data
 * @param held what it took in the buffer: of small records far more than their data
 */
private[source] final case class PageEstimate(at: Instant, bytes: Long, held: Long) {

  /** The next page will hardly be more than twice as large, nor tiny for sure. */
  def nextEstimate: Long =
    math.min(ServiceLimits.GetRecordsBytes.toLong, math.max(PageEstimate.MinEstimate, held * 2))

  /** A page of ten megabytes uses up five seconds of a shard's quota: asking sooner is futile. */
  def quotaPause(now: Instant): FiniteDuration = {
    val due = bytes * 1000 / ServiceLimits.ReadBytesPerSecond - (now.toEpochMilli - at.toEpochMilli)
    math.max(0, due).millis
  }
}

private[source] object PageEstimate {
  private val MinEstimate = 64L * 1024
}
