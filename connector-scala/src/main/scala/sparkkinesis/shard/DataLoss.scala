package sparkkinesis.shard

import java.time.Instant

import scala.concurrent.duration._

import sparkkinesis.model.StreamRef

/**
 * The query must read these records, but Kinesis no longer has them.
 *
 * @param range that is no longer complete
 * @param reason including the length of the missing time, if it is known
 */
private[sparkkinesis] final class DataLossException(
    stream: StreamRef,
    range: ShardRange,
    reason: String
) extends SourceException(
      "KINESIS_DATA_LOSS",
      s"Records of stream $stream, $range, are no longer available: $reason. They probably " +
        "expired after the stream's retention period. To continue with the records that are " +
        "left, set 'failOnDataLoss' to 'false'."
    )

/** Texts about missing data. */
private[sparkkinesis] object DataLoss {

  /** @param text sentences about a loss that does not fail the query */
  def tolerated(text: String): String =
    s"$text The query continues, because 'failOnDataLoss' is 'false'."

  /**
   * @param completeAsOf `None` if the query has read nothing of the shard
   * @param retention `None` if it is not known
   */
  def extent(
      completeAsOf: Option[Instant],
      retention: Option[FiniteDuration],
      now: Instant
  ): String = completeAsOf match {
    case None => "the query had read nothing of the shard, so the amount is not known"
    case Some(complete) =>
      val missing = retention.fold("") { period =>
        val millis = now.toEpochMilli - period.toMillis - complete.toEpochMilli
        s", and the stream retains records for ${text(period)}: up to " +
          s"${text(millis.max(0).millis)} of records may be missing"
      }
      s"the query had read all records up to $complete$missing"
  }

  /** @param count number of shards with a loss, of which the text before names one */
  def others(count: Int): String =
    if (count > 1) s" The same is true of ${count - 1} other shards." else ""

  /**
   * The pause before the answer that confirms a loss: one answer may be wrong for a moment.
   *
   * @param chance evenly distributed in `[0, 1)`, for jitter
   */
  def secondLook(chance: Double): FiniteDuration = (1000 + (chance * 1000).toLong).millis

  /** The duration as text such as `3 h 20 min`, rounded up. */
  def text(duration: FiniteDuration): String = {
    val minutes = (duration + 1.minute - 1.nano).toMinutes
    val (hours, rest) = (minutes / 60, minutes % 60)
    if (hours == 0) s"$rest min" else if (rest == 0) s"$hours h" else s"$hours h $rest min"
  }
}
