package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisClient, KinesisException}
import sparkkinesis.model.{ServiceLimits, StreamRef}
import sparkkinesis.source.DataLoss

/**
 * Detects that a reader is behind the stream's retention period. Kinesis does not report this: it
 * silently moves such a reader to the oldest record that it still has.
 */
final class RetentionCheck(client: KinesisClient, stream: StreamRef) {
  import RetentionCheck._

  private var cached = Option.empty[(Instant, FiniteDuration)] // time of the call, and retention

  /** Whether records that arrived after `completeAsOf` may have expired. */
  def hasPassed(completeAsOf: Instant, now: Instant): Boolean = {
    def isOlderThan(age: FiniteDuration) =
      completeAsOf.isBefore(now.minusMillis((age + Margin).toMillis))
    isOlderThan(ServiceLimits.DefaultRetention) && isOlderThan(retention(now))
  }

  /** Says how much of a shard is lost, for a message. May call the service. */
  def extent(completeAsOf: Option[Instant], now: Instant): String = {
    def retentionIfKnown =
      try Some(retention(now))
      catch { case _: KinesisException => None }
    DataLoss.extent(completeAsOf, completeAsOf.flatMap(_ => retentionIfKnown), now)
  }

  private def retention(now: Instant): FiniteDuration = cached match {
    case Some((calledAt, value)) if now.isBefore(calledAt.plusMillis(CacheTime.toMillis)) => value
    case _ =>
      val value = describedRetention
      cached = Some(now -> value)
      value
  }

  /**
   * The last known value if the call fails for the moment, so that reading does not wait for it.
   */
  private def describedRetention: FiniteDuration =
    try client.describeStream(stream).retention
    catch {
      case failure: KinesisException if failure.isRetryable =>
        cached.fold(throw failure) { case (_, value) => value }
    }
}

object RetentionCheck {

  /** Kinesis trims a little late, and clocks differ: a start at the trim horizon is no loss. */
  private val Margin = 10.minutes

  /** A changed retention period takes effect after this time. */
  private val CacheTime = 10.minutes
}
