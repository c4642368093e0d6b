package sparkkinesis.source.fetch

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.client.{KinesisClient, KinesisException}
import sparkkinesis.model.{ServiceLimits, StreamRef}
import sparkkinesis.source.DataLoss

/**
 * Tells whether a reader has fallen behind the stream's retention. Kinesis itself does not: it moves
 * such a reader to the oldest record kept, without a word.
 */
final class RetentionCheck(client: KinesisClient, stream: StreamRef) {
  import RetentionCheck._

  private var known =
    Option.empty[(Instant, FiniteDuration)] // the retention, and when it was asked

  /** Whether records that arrived after `completeAsOf` may be gone by now. */
  def hasPassed(completeAsOf: Instant, now: Instant): Boolean = {
    def isOlderThan(age: FiniteDuration) =
      completeAsOf.isBefore(now.minusMillis((age + Margin).toMillis))
    isOlderThan(ServiceLimits.DefaultRetention) && isOlderThan(retention(now))
  }

  /** How much of a shard is missing, in words; it asks the service where it has not lately. */
  def extent(completeAsOf: Option[Instant], now: Instant): String = {
    def kept =
      try Some(retention(now))
      catch { case _: KinesisException => None }
    DataLoss.extent(completeAsOf, completeAsOf.flatMap(_ => kept), now)
  }

  private def retention(now: Instant): FiniteDuration =
    known
      .collect { case (asked, kept) if now.isBefore(asked.plusMillis(Fresh.toMillis)) => kept }
      .getOrElse {
        val kept = asked
        known = Some(now -> kept)
        kept
      }

  /** Where the service is too busy to tell, what it said before: reading must not wait for that. */
  private def asked: FiniteDuration =
    try client.describeStream(stream).retention
    catch {
      case failure: KinesisException if failure.isRetryable =>
        known.fold(throw failure)(_._2)
    }
}

object RetentionCheck {

  /** The service trims a little late, and clocks differ: a start at the horizon is no loss. */
  private val Margin = 10.minutes

  /** A retention that was changed is noticed after that. */
  private val Fresh = 10.minutes
}
