package sparkkinesis.source.replay

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, Retry, ShardFilter}
import sparkkinesis.compat._
import sparkkinesis.model.offset.{Progress, ShardProgress}
import sparkkinesis.model.{ArrivalTimes, Position, SequenceNumber, Shard, StreamArn, StreamShard}
import sparkkinesis.shard.{DataLoss, ReadUntil, ShardRange, SourceException, StreamClient}
import sparkkinesis.source.checkpoint.{RecordLookup, ShardDiscovery, ShardStarts}
import sparkkinesis.source.position.{ByShard, PositionCheck}

/**
 * Plans a batch query of one stream: one range per shard that may have records, open or closed.
 * Tasks may read parents and children at the same time, because a batch query has an order only
 * within a shard.
 *
 * @param end each record before it is read. `Latest` is the end after all records that have arrived
 *   when the read is planned
 */
private[sparkkinesis] final class BatchReadPlanner(
    stream: StreamClient,
    start: ByShard[Position],
    end: ByShard[Position],
    bounds: ReadBounds,
    failOnDataLoss: Boolean,
    clock: Clock
) {
  import BatchReadPlanner._
  import stream.{client, ref}

  private val log = LoggerFactory.getLogger(classOf[BatchReadPlanner])
  private lazy val summary =
    Retry.atStart(clock)(client.describeStream(ref))

  private var passedAt = clock.elapsedMillis // when all ends are in the past

  def arn: StreamArn = summary.arn

  /**
   * Plans one range per shard, sorted by shard. Before they are read, call `awaitPassed`.
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
    val starts = new ShardStarts(stream, start, summary, now, clock, lose)
    starts.check(listing.shards)
    val wanted = bounds.shards.filter(_.forall(name => listing.shards.exists(_.id.name == name)))
    val shards = listing.shards.sortBy(_.id).filter(shard => wanted.forall(_(shard.id.name)))
    val ranges = for {
      shard <- shards
      range <- ends.of(shard, narrowed(starts.of(shard), now))
    } yield range
    passedAt = passing(ranges, listing.serverTime.getOrElse(now))
    ranges
  }

  /** Starts later if a filter on the arrival time allows it. Spark applies the filter again. */
  private def narrowed(begin: ShardProgress, now: Instant): ShardProgress =
    bounds.sinceMillis.map(it => Instant.ofEpochMilli(it - FilterMargin.toMillis)) match {
      case Some(since) if isBefore(begin.progress, since) && !since.isAfter(now) =>
        val trimHorizon = now.minusMillis(summary.retention.toMillis)
        begin.copy(
          Progress.AtTimestamp(since),
          completeAsOf = Some(since).filter(_.isAfter(trimHorizon))
        )
      case _ => begin
    }

  private def isBefore(progress: Progress, since: Instant): Boolean =
    progress == Progress.TrimHorizon || timeOf(progress).exists(_.isBefore(since))

  private def timeOf(progress: Progress): Option[Instant] = progress match {
    case Progress.AtTimestamp(instant) => Some(instant)
    case _ => None
  }

  /** Where each shard's range ends. */
  private final class Ends(now: Instant, listed: Seq[Shard]) {
    private val positions = PositionCheck.end(ref, end)
    private val last = now.plusMillis(1) // excluded: records that have arrived by now are included
    positions.check(listed, last)
    private val parents = listed.flatMap(_.parents).toSet

    private val lookup = new RecordLookup(stream, arn, positions, clock)

    /** `None` if the range is empty. */
    def of(shard: Shard, begin: ShardProgress): Option[ShardRange] = {
      val id = StreamShard(arn, shard.id)
      end.of(shard.id) match {
        case Position.AfterSequenceNumber(number) =>
          val range = rangeOf(id, begin, Progress.After(number), None)
          def startsAfterEnd = {
            val last = arrivalOf(shard, number)
            timeOf(range.from).exists(from => last.exists(_.isBefore(from)))
          }
          Option.when(range.from != range.upTo && !startsAfterEnd)(range)
        case Position.AtTimestamp(instant) => before(id, begin, instant.toEpochMilli)
        case Position.Latest => before(id, begin, last.toEpochMilli)
        case other => throw new IllegalArgumentException(s"A batch read cannot end at $other.")
      }
    }

    private def before(id: StreamShard, begin: ShardProgress, millis: Long): Option[ShardRange] = {
      val until = (Seq(millis) ++ bounds.beforeMillis.map(_ + FilterMargin.toMillis)).min
      val end = ReadUntil(until, withChildren = !parents(id.shard))
      Option.when(timeOf(begin.progress).forall(_.toEpochMilli < until))(
        rangeOf(id, begin, Progress.Finished, Some(end))
      )
    }

    /** A range from a time begins earlier in the shard, and has only the records since the time. */
    private def rangeOf(
        id: StreamShard,
        begin: ShardProgress,
        upTo: Progress,
        until: Option[ReadUntil]
    ): ShardRange = {
      val whole = ShardRange(id, begin.progress, upTo, begin.completeAsOf, until)
      timeOf(begin.progress).fold(whole) { since =>
        val from = Progress.AtTimestamp(since.minusMillis(ArrivalTimes.Margin.toMillis))
        whole.copy(from = from, sinceMillis = Some(since.toEpochMilli))
      }
    }

    /**
     * Arrival time of the range's last record. If it has expired, earlier records are still read.
     */
    private def arrivalOf(shard: Shard, number: SequenceNumber): Option[Instant] = {
      val found = lookup.arrival(shard, number)
      if (found.isEmpty)
        lose(s"${shard.id} of stream $ref has no record $number, which 'endingPosition' names.")
      found
    }
  }

  private def lose(message: String): Unit =
    if (failOnDataLoss)
      throw new SourceException(
        "KINESIS_DATA_LOSS",
        s"$message To read the remaining records, set 'failOnDataLoss' to 'false'."
      )
    else log.warn(DataLoss.tolerated(message))

  /** The service reports its time in whole seconds. */
  private def passing(ranges: Seq[ShardRange], serviceTime: Instant): Long = {
    val last = ranges.flatMap(_.until).map(_.millis).maxOption
    val wait = last.map(ArrivalTimes.untilVisible(_, serviceTime.toEpochMilli))
    clock.elapsedMillis + wait.fold(0L)(_.toMillis)
  }

  /**
   * Waits until each end of `ranges` is in the past, so that no more records can arrive before it,
   * and each record before it is visible. Then reading a range again returns the same records.
   */
  def awaitPassed(): Unit = {
    val wait = passedAt - clock.elapsedMillis
    if (wait > 0) clock.sleep(wait.millis)
  }
}

private[source] object BatchReadPlanner {

  /**
   * Added to both ends of a filter on the arrival time. A filter must never change which records
   * exist, so this is far more than [[ArrivalTimes.Margin]].
   */
  val FilterMargin: FiniteDuration = 1.minute
}
