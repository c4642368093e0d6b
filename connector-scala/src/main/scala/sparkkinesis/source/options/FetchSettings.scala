package sparkkinesis.source.options

import scala.concurrent.duration._

import sparkkinesis.client.{Backoff, Retry}
import sparkkinesis.model.PackedRecords
import sparkkinesis.source.protocol.ReadLimits

/**
 * How a query reads from Kinesis.
 *
 * @param maxRecords limit of one `GetRecords` call
 * @param minPeriod between two calls to a shard that has records
 * @param idlePeriod the longest period between two calls to a shard without records
 * @param bufferBytes memory per executor for pages that are read ahead; `None` follows the heap
 * @param spillBytes disk per executor for such pages; 0 if all stay in memory
 * @param limits of a batch: they determine the distance between marks
 * @param stopAtMillis with `Trigger.AvailableNow`: the query reads no record that arrived later
 * @param maxShardSkew how far a shard may be read beyond the oldest unread record of another one,
 *   by the arrival times
 */
final case class FetchSettings(
    maxRecords: Int,
    minPeriod: FiniteDuration,
    idlePeriod: FiniteDuration,
    bufferBytes: Option[Long],
    spillBytes: Long,
    limits: ReadLimits,
    failOnDataLoss: Boolean,
    stopAtMillis: Option[Long],
    maxShardSkew: Option[FiniteDuration] = None
) {

  /**
   * The pause before the next call to a shard whose last record was read `quiet` ago. It grows
   * slowly from `minPeriod` to `idlePeriod`.
   */
  def pause(quiet: FiniteDuration): FiniteDuration =
    (quiet / FetchSettings.QuietParts).max(minPeriod).min(idlePeriod.max(minPeriod))

  /**
   * Indices of a page at which a batch may end: always the last one, and others as the limits
   * require.
   */
  def marks(records: PackedRecords): Vector[Int] = {
    val last = records.size - 1
    if (limits.isUnlimited && maxShardSkew.isEmpty) Vector(last)
    else {
      val part = limitsOfMark.copy(maxBytes = limitsOfMark.maxBytes.map { bytes =>
        math.max(bytes, records.dataBytes / FetchSettings.MarksPerPage)
      })
      var (count, bytes, begin) = (0L, 0L, 0)
      records.indices.filter { index =>
        count += 1
        bytes += records.dataLength(index)
        val isFull = !part.allow(count + 1, bytes + 1)
        val isMark = index == last || isFull || isSkewed(records, begin, index + 1)
        if (isMark) {
          count = 0
          bytes = 0
          begin = index + 1
        }
        isMark
      }.toVector
    }
  }

  /** Whether the records of a mark would be further apart than shards may be. */
  private def isSkewed(records: PackedRecords, first: Int, last: Int): Boolean =
    maxShardSkew.exists { skew =>
      records.arrivalMillis(last) - records.arrivalMillis(first) > skew.toMillis
    }

  /** Limit of one `GetRecords` call of a fetcher: if limits are small, a page has many marks. */
  lazy val pageRecords: Int =
    limitsOfMark.maxRecords.fold(maxRecords) { records =>
      math.min(maxRecords.toLong, records * FetchSettings.MarksPerPage).toInt
    }

  /** Largest size of a mark that stands for several ones. With `maxShardSkew`, each mark is needed. */
  def joinedMark: ReadLimits =
    if (maxShardSkew.isEmpty) limitsOfMark else ReadLimits(Some(0), None)

  /** Whether so many marks are enough for many batches. */
  def isFarAhead(marks: Int): Boolean =
    (!limits.isUnlimited || maxShardSkew.nonEmpty) && marks >= FetchSettings.MostMarks

  /** The distance between marks: a small part of the limits of a batch. */
  lazy val limitsOfMark: ReadLimits = {
    def part(limit: Long) = math.max(1L, limit / FetchSettings.MarksPerLimit)
    ReadLimits(limits.maxRecords.map(part), limits.maxBytes.map(part))
  }
}

object FetchSettings {

  /** Each mark takes about 200 bytes on the driver. */
  private val MarksPerPage = 256
  private val MostMarks = 4096

  /** After ten seconds without a record the fetcher calls once per second. */
  private val QuietParts = 10L

  private val MarksPerLimit = 32L

  /** Between failed calls, so that throttling and outages do not cause many retries. */
  val RetryBackoff: Backoff = Backoff(200.millis, 10.seconds)

  /** For calls that a query needs in order to start. A busy account gets two minutes on average. */
  val StartRetry: Retry = Retry(attempts = 4, RetryBackoff, throttledAttempts = 28)
}
