package sparkkinesis.source.feed

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, Moment}
import sparkkinesis.model.ServiceLimits
import sparkkinesis.source.{DataLoss, StreamClient}

/**
 * Detects that a reader is behind the stream's retention period. Kinesis does not report this: it
 * silently moves such a reader to the oldest record that it still has.
 */
final class RetentionCheck(stream: StreamClient) {
  import RetentionCheck._
  import stream.{client, ref, shared}

  /**
   * Whether records that arrived after `completeAsOf` may have expired. If so, the description of
   * the stream is at most a minute old, because the retention period may have been changed.
   *
   * @param at with the service's time
   * @throws KinesisException if this cannot be decided at present. The page must be read again: the
   *   next one would be compared with a later time.
   */
  def hasPassed(completeAsOf: Instant, at: Moment): Boolean = {
    def isOlderThan(age: FiniteDuration) =
      completeAsOf.isBefore(at.now.minusMillis((age + Margin).toMillis))
    isOlderThan(ServiceLimits.DefaultRetention) && isOlderThan(latest(at)) &&
    isOlderThan(shared.facts.provenRetention(client, ref, at.steady))
  }

  /** Says how much of a shard is lost, for a message. May call the service. */
  def extent(completeAsOf: Option[Instant], at: Moment): String = {
    def retentionIfKnown =
      try Some(latest(at))
      catch { case _: KinesisException => None }
    DataLoss.extent(completeAsOf, completeAsOf.flatMap(_ => retentionIfKnown), at.now)
  }

  private def latest(at: Moment): FiniteDuration =
    shared.facts.latestRetention(client, ref, at.steady)
}

object RetentionCheck {

  /** Kinesis trims a little late, and clocks differ: a start at the trim horizon is no loss. */
  private val Margin = 10.minutes
}
