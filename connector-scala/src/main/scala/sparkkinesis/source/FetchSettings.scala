package sparkkinesis.source

import scala.concurrent.duration._

import sparkkinesis.client.Backoff
import sparkkinesis.model._

/**
 * How the fetchers of a query read ahead.
 *
 * @param maxRecords of one `GetRecords` call
 * @param minPeriod between two calls to one shard that has data
 * @param idlePeriod the longest between two calls to a shard without
 * @param bufferBytes that an executor may hold
 * @param limits of a batch, so that marks lie close enough together to keep them
 */
final case class FetchSettings(
    maxRecords: Int,
    minPeriod: FiniteDuration,
    idlePeriod: FiniteDuration,
    bufferBytes: Long,
    limits: ReadLimits,
    failOnDataLoss: Boolean
) {

  /**
   * The pause before the next call to a shard whose last record was read `quiet` ago: from
   * `minPeriod` while data flows slowly growing to `idlePeriod`.
   */
  def pause(quiet: FiniteDuration): FiniteDuration =
    (quiet / FetchSettings.QuietParts).max(minPeriod).min(idlePeriod.max(minPeriod))

  /** Places in a page where a batch may end: the last record always, and enough between for the limits. */
  def marks(records: IndexedSeq[Record]): Vector[Int] = {
    val maxRecords =
      limits.maxRecords.fold(Long.MaxValue)(max => math.max(1, max / FetchSettings.MarksPerLimit))
    val maxBytes =
      limits.maxBytes.fold(Long.MaxValue)(max => math.max(1, max / FetchSettings.MarksPerLimit))
    if (limits.isUnlimited) Vector(records.size - 1)
    else {
      var (count, bytes) = (0L, 0L)
      records.indices.filter { index =>
        count += 1
        bytes += records(index).data.length
        val isMark = count >= maxRecords || bytes >= maxBytes || index == records.size - 1
        if (isMark) {
          count = 0
          bytes = 0
        }
        isMark
      }.toVector
    }
  }
}

object FetchSettings {

  /** A shard quiet for ten seconds is asked once a second. */
  private val QuietParts = 10L

  /** A batch is cut to its limits in steps of this part of them. */
  private val MarksPerLimit = 32L

  /** Between failed calls: throttling and outages must not meet a storm of retries. */
  val RetryBackoff: Backoff = Backoff(200.millis, 10.seconds)
}
