package sparkkinesis.shard

import scala.concurrent.duration._

import sparkkinesis.client.Backoff
import sparkkinesis.model.ServiceLimits

/**
 * How a shard is read.
 *
 * @param maxRecords limit of one `GetRecords` call
 * @param minPeriod between two calls to a shard that has records
 * @param idlePeriod the longest period between two calls to a shard without records
 * @param failOnDataLoss whether a lost record ends the reading
 * @param retryTimeout how long calls to one shard may fail in a row; `None` if for ever. Calls that
 *   a quota refused are repeated without a limit. With zero, no call is repeated at all
 * @param renewal how long a subscription is used, within the limits of
 *   [[sparkkinesis.shard.feed.PushedPages]]. A quiet shard is complete up to the beginning of its
 *   subscription
 */
private[sparkkinesis] final case class ReadSettings(
    maxRecords: Int = ServiceLimits.GetRecordsCount,
    minPeriod: FiniteDuration = ServiceLimits.GetRecordsPeriod,
    idlePeriod: FiniteDuration = 1.second,
    failOnDataLoss: Boolean = true,
    retryTimeout: Option[FiniteDuration] = Some(5.minutes),
    renewal: FiniteDuration = 5.minutes
) {

  /**
   * The pause before the next call to a shard whose last record was read `quiet` ago. It grows
   * slowly from `minPeriod` to `idlePeriod`.
   */
  def pause(quiet: FiniteDuration): FiniteDuration =
    (quiet / ReadSettings.QuietParts).max(minPeriod).min(idlePeriod.max(minPeriod))
}

private[sparkkinesis] object ReadSettings {

  /**
   * A reader waits for a tenth of its time without a record: after ten seconds it calls once per
   * second.
   */
  private val QuietParts = 10L

  /** Pauses between calls that fail do not cause many of them while a service is busy or down. */
  val RetryPauses: Backoff = Backoff(200.millis, 10.seconds)
}
