package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.KinesisException
import sparkkinesis.model.ServiceLimits
import sparkkinesis.source.{DataLoss, StreamClient}

/**
 * Detects that a reader is behind the stream's retention period. Kinesis does not report this: it
 * silently moves such a reader to the oldest record that it still has.
 */
final class RetentionCheck(stream: StreamClient) {
  import RetentionCheck._

  /**
   * Whether records that arrived after `completeAsOf` may have expired. If so, the description of
   * the stream is at most a minute old, because the retention period may have been changed.
   */
  def hasPassed(completeAsOf: Instant, now: Instant): Boolean = {
    def isOlderThan(age: FiniteDuration) =
      completeAsOf.isBefore(now.minusMillis((age + Margin).toMillis))
    isOlderThan(ServiceLimits.DefaultRetention) && isOlderThan(retention(now, CacheTime)) &&
    isOlderThan(retention(now, ProofTime))
  }

  /** Says how much of a shard is lost, for a message. May call the service. */
  def extent(completeAsOf: Option[Instant], now: Instant): String = {
    def retentionIfKnown =
      try Some(retention(now, CacheTime))
      catch { case _: KinesisException => None }
    DataLoss.extent(completeAsOf, completeAsOf.flatMap(_ => retentionIfKnown), now)
  }

  private def retention(now: Instant, maxAge: FiniteDuration): FiniteDuration =
    stream.shared.retention.of(stream.client, stream.ref, now, maxAge)
}

object RetentionCheck {

  /** Kinesis trims a little late, and clocks differ: a start at the trim horizon is no loss. */
  private val Margin = 10.minutes

  /** A changed retention period takes effect after this time. */
  private val CacheTime = 10.minutes

  /** A loss is not reported because of an older description. */
  private val ProofTime = 1.minute
}
