package sparkkinesis.shard.feed

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{KinesisException, Moment, Page}
import sparkkinesis.model.ServiceLimits
import sparkkinesis.shard.{DataLoss, DataLossException, ShardRange, StreamClient}

/**
 * The records of a shard that expired before they were read. Kinesis does not report this: it
 * silently moves a reader that is behind the retention period to the oldest record that it still
 * has. With `failOnDataLoss` its methods return the loss; without, they log and count it. Used by
 * one thread at a time.
 */
private[feed] final class ReadLosses(stream: StreamClient, failOnDataLoss: Boolean) {
  import ReadLosses._
  import stream.{client, ref, shared}

  private val log = LoggerFactory.getLogger(classOf[ReadLosses])
  private var isBehind = false
  private var horizonPages = Option.empty[(Instant, Instant)] // steady time of the first and last
  private var count = 0

  /**
   * Whether the reader is behind the retention period. A tolerated loss counts once until the
   * reader has caught up.
   *
   * @param rest what is still to be read
   * @param completeAsOf all records that arrived before are read
   * @param at with the service's time
   * @throws KinesisException if this cannot be decided at present
   */
  def behindRetention(
      rest: ShardRange,
      completeAsOf: Option[Instant],
      at: Moment
  ): Option[DataLossException] = {
    val wasBehind = isBehind
    isBehind = completeAsOf.exists(mayHaveExpired(_, at))
    if (isBehind && (failOnDataLoss || !wasBehind))
      lose("it was not read for longer than the retention period", rest, completeAsOf, at)
    else None
  }

  /**
   * Whether records expire as fast as the reader advances: then the service may answer with empty
   * pages for ever. A reader that crosses a long time without records leaves the horizon behind.
   *
   * @param rest what is still to be read
   * @param at with the service's time
   * @throws KinesisException if this cannot be decided at present
   */
  def overtaken(
      page: Page,
      rest: ShardRange,
      completeAsOf: Option[Instant],
      at: Moment
  ): Option[DataLossException] =
    if (!isEmptyAtHorizon(page, at)) {
      horizonPages = None
      None
    } else {
      // After a pause of the reader, the count begins again: it has not tried to catch up.
      def hasPaused(last: Instant) = last.plusMillis(LongestStep.toMillis).isBefore(at.steady)
      val since = horizonPages.filterNot(it => hasPaused(it._2)).fold(at.steady)(_._1)
      val isLong = at.steady.toEpochMilli - since.toEpochMilli >= LongestAtHorizon.toMillis
      horizonPages = Some((if (isLong) at.steady else since, at.steady))
      def isProven = isOld(page, shared.facts.provenRetention(client, ref, at.steady))
      if (!isLong || !isProven) None
      else
        lose(
          s"for ${LongestAtHorizon.toMinutes} minutes Kinesis returned only empty pages, as old " +
            "as the retention period, so records expire as fast as they are read",
          rest,
          completeAsOf,
          at
        )
    }

  private def isEmptyAtHorizon(page: Page, at: Moment): Boolean =
    page.records.isEmpty && isOld(page, ServiceLimits.DefaultRetention) &&
      isOld(page, retention(at))

  private def isOld(page: Page, retention: FiniteDuration): Boolean =
    page.millisBehindLatest.exists(_ >= (retention - Margin).toMillis)

  /**
   * Whether records that arrived after `completeAsOf` may have expired. If so, the description of
   * the stream is at most a minute old, because the retention period may have been changed.
   *
   * @param at with the service's time
   * @throws KinesisException if this cannot be decided at present. The page must be read again: the
   *   next one would be compared with a later time.
   */
  private[feed] def mayHaveExpired(completeAsOf: Instant, at: Moment): Boolean = {
    def isOlderThan(age: FiniteDuration) =
      completeAsOf.isBefore(at.now.minusMillis((age + Margin).toMillis))
    isOlderThan(ServiceLimits.DefaultRetention) && isOlderThan(retention(at)) &&
    isOlderThan(shared.facts.provenRetention(client, ref, at.steady))
  }

  private def retention(at: Moment): FiniteDuration =
    shared.facts.latestRetention(client, ref, at.steady)

  /** Records of the rest are missing, whatever the clock says. */
  def lose(
      reason: String,
      rest: ShardRange,
      completeAsOf: Option[Instant],
      at: Moment
  ): Option[DataLossException] = {
    def retentionIfKnown =
      try Some(retention(at))
      catch { case _: KinesisException => None }
    val extent =
      DataLoss.extent(completeAsOf, completeAsOf.flatMap(_ => retentionIfKnown), at.now)
    val loss = new DataLossException(ref, rest, s"$reason ($extent)")
    if (failOnDataLoss) Some(loss)
    else {
      count += 1
      log.warn(DataLoss.tolerated(loss.getMessage))
      None
    }
  }

  /** Number of losses since the last call. */
  def takeCount(): Int = {
    val taken = count
    count = 0
    taken
  }
}

private object ReadLosses {

  /** Kinesis trims a little late, and clocks differ: a start at the trim horizon is no loss. */
  private val Margin = 10.minutes

  /** How long only empty pages may come from the horizon. */
  private val LongestAtHorizon = 30.minutes

  /** The longest time between two pages of a reader that tries to catch up. */
  private val LongestStep = 1.minute
}
