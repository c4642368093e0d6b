package sparkkinesis.source

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.StreamRef
import sparkkinesis.source.protocol.ShardRange

/**
 * Records that were owed and are no longer to be had.
 *
 * @param range of which a part is missing
 * @param reason with how much time is missing, as far as that is known
 */
final class DataLossException(stream: StreamRef, range: ShardRange, reason: String)
    extends SourceException(
      "KINESIS_DATA_LOSS",
      s"Records of stream $stream, $range, can no longer be read: $reason. They were probably trimmed " +
        "after the stream's retention period. To go on with what is left, set 'failOnDataLoss' to 'false'."
    )

/** How much is missing, in words. */
object DataLoss {

  /**
   * @param completeAsOf what arrived before was read; none where nothing of the shard was
   * @param retention none where it is not known
   */
  def extent(
      completeAsOf: Option[Instant],
      retention: Option[FiniteDuration],
      now: Instant
  ): String = completeAsOf match {
    case None => "nothing of it was read yet, so how much is gone is not known"
    case Some(complete) =>
      val kept = retention.fold("") { kept =>
        val missing = now.toEpochMilli - kept.toMillis - complete.toEpochMilli
        s", and records are kept for ${text(kept)}: up to ${text(missing.max(0).millis)} of records " +
          "may be gone"
      }
      s"it was read completely up to $complete$kept"
  }

  /** Such as `3 h 20 min`, rounded up. */
  def text(duration: FiniteDuration): String = {
    val minutes = (duration + 1.minute - 1.nano).toMinutes
    val (hours, rest) = (minutes / 60, minutes % 60)
    if (hours == 0) s"$rest min" else if (rest == 0) s"$hours h" else s"$hours h $rest min"
  }
}
