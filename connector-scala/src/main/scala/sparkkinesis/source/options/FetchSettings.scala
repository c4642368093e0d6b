package sparkkinesis.source.options

import scala.concurrent.duration._

import sparkkinesis.client.Backoff
import sparkkinesis.model.PackedRecords
import sparkkinesis.source.protocol.ReadLimits

/**
 * How the fetchers of a query read ahead.
 *
 * @param maxRecords of one `GetRecords` call
 * @param minPeriod between two calls to one shard that has data
 * @param idlePeriod the longest between two calls to a shard without
 * @param bufferBytes that an executor may hold
 * @param limits of a batch, so that marks lie close enough together to keep them
 * @param stopAtMillis
 *   `Trigger.AvailableNow` reads nothing that arrived later
 */
final case class FetchSettings(
    maxRecords: Int,
    minPeriod: FiniteDuration,
    idlePeriod: FiniteDuration,
    bufferBytes: Long,
    limits: ReadLimits,
    failOnDataLoss: Boolean,
    stopAtMillis: Option[Long]
) {

  /**
   * The pause before the next call to a shard whose last record was read `quiet` ago: from
   * `minPeriod` while data flows slowly growing to `idlePeriod`.
   */
  def pause(quiet: FiniteDuration): FiniteDuration =
    (quiet / FetchSettings.QuietParts).max(minPeriod).min(idlePeriod.max(minPeriod))

  /** Places in a page where a batch may end: the last record always, and enough between for the limits. */
  def marks(records: PackedRecords): Vector[Int] = {
    val last = records.size - 1
    if (limits.isUnlimited) Vector(last)
    else {
      var (count, bytes) = (0L, 0L)
      records.indices.filter { index =>
        count += 1
        bytes += records.dataLength(index)
        val isFull = !limitsOfMark.allow(count + 1, bytes + 1)
        val isMark = index == last || isFull
        if (isMark) {
          count = 0
          bytes = 0
        }
        isMark
      }.toVector
    }
  }

  /** A batch is cut to its limits in steps of a small part of them. */
  private lazy val limitsOfMark: ReadLimits = {
    def part(limit: Long) = math.max(1L, limit / FetchSettings.MarksPerLimit)
    ReadLimits(limits.maxRecords.map(part), limits.maxBytes.map(part))
  }
}

object FetchSettings {

  /** A shard quiet for ten seconds is asked once a second. */
  private val QuietParts = 10L

  private val MarksPerLimit = 32L

  /** Between failed calls: throttling and outages must not meet a storm of retries. */
  val RetryBackoff: Backoff = Backoff(200.millis, 10.seconds)
}
