package sparkkinesis.source.replay

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, Retry, ShardFilter}
import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{ArrivalTimes, Position, SequenceNumber, Shard, StreamArn, StreamShard}
import sparkkinesis.source.checkpoint.ShardDiscovery
import sparkkinesis.source.position._
import sparkkinesis.source.protocol.{ReadUntil, ShardRange}
import sparkkinesis.source.{DataLoss, SourceException, StreamClient}

/**
 * Plans a batch query of one stream: one range per shard that may have records, open or closed.
 * Tasks may read parents and children at the same time, because a batch query has an order only
 * within a shard.
 */
final class BatchReadPlanner(
    stream: StreamClient,
    start: ByShard[Position],
    end: ByShard[EndingPosition],
    bounds: ReadBounds,
    failOnDataLoss: Boolean,
    clock: Clock
) {
  import BatchReadPlanner._
  import stream.{client, ref}

  private val log = LoggerFactory.getLogger(classOf[BatchReadPlanner])
  private lazy val summary = retrying(client.describeStream(ref))

  def arn: StreamArn = summary.arn

  /**
   * Plans one range per shard, sorted by shard. Waits until each end is in the past, so that
   * reading a range again returns the same records.
   *
   * @throws SourceException if a start or an end is invalid, or if a start has expired and
   *   `failOnDataLoss` is `true`
   */
  def ranges(): Seq[ShardRange] = {
    val listing =
      ShardDiscovery.wholeListing(client, ref, ShardFilter.FromTrimHorizon, clock)
    val now = ShardDiscovery.serviceNow(clock.now, listing.serverTime)
    val ends = new Ends(
      ShardDiscovery.serviceNowAtLatest(clock.now, listing.serverTime),
      listing.shards
    )
    val starts = new ShardStarts(stream, start, summary.retention, now, clock, lose)
    starts.check(listing.shards)
    val wanted = bounds.shards.filter(_.forall(name => listing.shards.exists(_.id.name == name)))
    val shards = listing.shards.sortBy(_.id).filter(shard => wanted.forall(_(shard.id.name)))
    val ranges = for {
      shard <- shards
      begin = retrying(starts.of(shard))
      range <- ends.of(shard, narrowed(begin, now))
    } yield range
    awaitPassed(ranges, listing.serverTime.getOrElse(now))
    ranges
  }

  /** Starts later if a filter on the arrival time allows it. Spark applies the filter again. */
  private def narrowed(begin: ShardStart, now: Instant): ShardStart =
    bounds.sinceMillis.map(it => Instant.ofEpochMilli(it - FilterMargin.toMillis)) match {
      case Some(since) if isBefore(begin.progress, since) && !since.isAfter(now) =>
        val trimHorizon = now.minusMillis(summary.retention.toMillis)
        ShardStart(Progress.AtTimestamp(since), Some(since).filter(_.isAfter(trimHorizon)))
      case _ => begin
    }

  private def isBefore(progress: Progress, since: Instant): Boolean = progress match {
    case Progress.TrimHorizon => true
    case Progress.AtTimestamp(instant) => instant.isBefore(since)
    case _ => false
  }

  /** Where each shard's range ends. */
  private final class Ends(now: Instant, listed: Seq[Shard]) {
    private val positions = PositionCheck.end(ref, end)
    private val last = now.plusMillis(1) // excluded: records that have arrived by now are included
    positions
      .unlisted(listed, mayHaveExpired = false)
      .orElse(positions.future(last))
      .foreach(invalid => throw invalid.atStart)
    private val parents = listed.flatMap(_.parents).toSet

    /** `None` if the range is empty. */
    def of(shard: Shard, begin: ShardStart): Option[ShardRange] = {
      val id = StreamShard(arn, shard.id)
      end.of(shard.id) match {
        case EndingPosition.UpTo(number) =>
          val upTo = Progress.After(number)
          val range = rangeOf(id, begin, upTo, None)
          Option.when(range.from != upTo && !startsAfter(range.from, arrivalOf(shard, number)))(
            range
          )
        case EndingPosition.Before(instant) => before(id, begin, instant.toEpochMilli)
        case EndingPosition.Latest => before(id, begin, last.toEpochMilli)
      }
    }

    private def before(id: StreamShard, begin: ShardStart, millis: Long): Option[ShardRange] = {
      val until = (Seq(millis) ++ bounds.beforeMillis.map(_ + FilterMargin.toMillis)).min
      val isEmpty = begin.progress match {
        case Progress.AtTimestamp(instant) => instant.toEpochMilli >= until
        case _ => false
      }
      val end = ReadUntil(until, withChildren = !parents(id.shard))
      Option.when(!isEmpty)(rangeOf(id, begin, Progress.Finished, Some(end)))
    }

    /** A range from a time begins earlier in the shard, and has only the records since the time. */
    private def rangeOf(
        id: StreamShard,
        begin: ShardStart,
        upTo: Progress,
        until: Option[ReadUntil]
    ): ShardRange = {
      val whole = ShardRange(id, begin.progress, upTo, begin.completeAsOf, until)
      begin.progress match {
        case Progress.AtTimestamp(since) =>
          val from = Progress.AtTimestamp(since.minusMillis(ArrivalTimes.Margin.toMillis))
          whole.copy(from = from, sinceMillis = Some(since.toEpochMilli))
        case _ => whole
      }
    }

    /**
     * Arrival time of the range's last record. If it has expired, earlier records are still read.
     */
    private def arrivalOf(shard: Shard, number: SequenceNumber): Option[Instant] = {
      val record = retrying(new RecordLookup(stream, positions, clock).find(shard, number))
      if (record.isEmpty)
        lose(s"${shard.id} of stream $ref has no record $number, which 'endingPosition' names.")
      record.map(it => Instant.ofEpochMilli(it.arrivalMillis))
    }

    /** Whether the range starts after the arrival time of its last record. */
    private def startsAfter(from: Progress, last: Option[Instant]): Boolean =
      from match {
        case Progress.AtTimestamp(instant) => last.exists(_.isBefore(instant))
        case _ => false
      }
  }

  private def lose(message: String): Unit =
    if (failOnDataLoss)
      throw new SourceException(
        "KINESIS_DATA_LOSS",
        s"$message To read the remaining records, set 'failOnDataLoss' to 'false'."
      )
    else log.warn(DataLoss.tolerated(message))

  /**
   * Waits until each end is in the past, so that no more records can arrive before it, and each
   * record before it is visible. The service reports its time in whole seconds.
   */
  private def awaitPassed(ranges: Seq[ShardRange], serviceTime: Instant): Unit = {
    val last = ranges.flatMap(_.until).map(_.millis).maxOption
    last
      .map(ArrivalTimes.untilVisible(_, serviceTime.toEpochMilli))
      .filter(_ > Duration.Zero)
      .foreach(clock.sleep)
  }

  private def retrying[A](call: => A): A = Retry.atStart(clock)(call)
}

private[source] object BatchReadPlanner {

  /**
   * Added to both ends of a filter on the arrival time. A filter must never change which records
   * exist, so this is far more than [[ArrivalTimes.Margin]].
   */
  val FilterMargin: FiniteDuration = 1.minute
}
