package sparkkinesis.source.replay

import java.time.Instant

import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import sparkkinesis.client.{Clock, ShardFilter}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{SequenceNumber, Shard, StreamArn, StreamShard}
import sparkkinesis.source.checkpoint.{ShardDiscovery, StreamCheck}
import sparkkinesis.source.position._
import sparkkinesis.source.protocol.{ReadUntil, ShardRange}
import sparkkinesis.source.{SourceException, StreamClient}

/**
 * Plans what a batch read reads of one stream: a range of each shard that may have records in it,
 * closed ones, parents and children alike. They can be read at the same time: only within a shard
 * there is an order.
 *
 * @param chance evenly distributed in `[0, 1)`, for jitter
 */
final class BatchReadPlanner(
    stream: StreamClient,
    start: ByShard[StartingPosition],
    end: ByShard[EndingPosition],
    bounds: ReadBounds,
    failOnDataLoss: Boolean,
    clock: Clock,
    chance: () => Double
) {
  import BatchReadPlanner._
  import stream.{client, ref}

  private val log = LoggerFactory.getLogger(classOf[BatchReadPlanner])
  private lazy val summary = retrying(client.describeStream(ref))

  def arn: StreamArn = summary.arn

  /**
   * By shard, in ascending order. Every end is over when this returns: to read it again is to read the
   * same.
   *
   * @throws SourceException where start or end cannot be, or a start is lost and `failOnDataLoss`
   */
  def ranges(): Seq[ShardRange] = {
    val listing = retrying {
      ShardDiscovery.wholeListing(client, ref, ShardFilter.FromTrimHorizon, clock, chance, 1)
    }
    val now = ShardDiscovery.serviceNow(clock.now, listing.serverTime)
    val ends = new Ends(
      ShardDiscovery.serviceNowAtLatest(clock.now, listing.serverTime),
      listing.shards
    )
    val starts = new ShardStarts(stream, start, summary.retention, now, clock, miss)
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

  /** Arrival times are approximate and need not grow: what a filter wants lies well within. */
  private def narrowed(begin: ShardStart, now: Instant): ShardStart =
    bounds.sinceMillis.map(millis =>
      Instant.ofEpochMilli(millis).minusMillis(Margin.toMillis)
    ) match {
      case Some(since) if isBefore(begin.progress, since) && !since.isAfter(now) =>
        val horizon = now.minusMillis(summary.retention.toMillis)
        ShardStart(Progress.AtTimestamp(since), Some(since).filter(_.isAfter(horizon)))
      case _ => begin
    }

  private def isBefore(progress: Progress, since: Instant): Boolean = progress match {
    case Progress.TrimHorizon => true
    case Progress.AtTimestamp(instant) => instant.isBefore(since)
    case _ => false
  }

  /** Where each shard's range ends. */
  private final class Ends(now: Instant, listed: Seq[Shard]) {
    ShardStarts.requireListed("endingPosition", ref, end, listed)
    private val parents = listed.flatMap(_.parents).toSet

    /** `None` where nothing can lie between. */
    def of(shard: Shard, begin: ShardStart): Option[ShardRange] = {
      val id = StreamShard(arn, shard.id)
      end.of(shard.id) match {
        case EndingPosition.UpTo(number) =>
          val upTo = Progress.After(number)
          Option.when(begin.progress != upTo && !isBehind(begin, arrival(shard, number))) {
            ShardRange(id, begin.progress, upTo, begin.completeAsOf)
          }
        case EndingPosition.Before(instant) => before(id, begin, instant.toEpochMilli)
        case EndingPosition.Latest => before(id, begin, now.toEpochMilli + 1)
      }
    }

    private def before(id: StreamShard, begin: ShardStart, millis: Long): Option[ShardRange] = {
      if (millis > now.toEpochMilli + 1)
        throw new SourceException(
          "KINESIS_END_IN_FUTURE",
          s"Option 'endingPosition' is '${Instant.ofEpochMilli(millis)}' for stream $ref, and by the " +
            s"service's clock it is $now. A batch read ends in the past: leave it out to read up to now."
        )
      val until = (Seq(millis) ++ bounds.beforeMillis.map(_ + Margin.toMillis)).min
      val isEmpty = begin.progress match {
        case Progress.AtTimestamp(instant) => instant.toEpochMilli >= until
        case _ => false
      }
      val end = ReadUntil(until, withChildren = !parents(id.shard))
      Option.when(!isEmpty)(
        ShardRange(id, begin.progress, Progress.Finished, begin.completeAsOf, Some(end))
      )
    }

    /** Of the last record; where there is none such, what lies before it is read all the same. */
    private def arrival(shard: Shard, number: SequenceNumber): Option[Instant] = {
      val record = retrying(new RecordLookup(stream, clock).find("endingPosition", shard, number))
      if (record.isEmpty)
        miss(s"${shard.id} of stream $ref has no record $number, where 'endingPosition' ends.")
      record.map(it => Instant.ofEpochMilli(it.arrivalMillis))
    }

    /** Whether reading begins at a time that is later than the last record's. */
    private def isBehind(begin: ShardStart, last: Option[Instant]): Boolean = begin.progress match {
      case Progress.AtTimestamp(instant) => last.exists(_.isBefore(instant))
      case _ => false
    }
  }

  private def miss(message: String): Unit =
    if (failOnDataLoss)
      throw new SourceException(
        "KINESIS_DATA_LOSS",
        s"$message To read what there is, set 'failOnDataLoss' to 'false'."
      )
    else log.warn(s"$message Going on, as 'failOnDataLoss' is 'false'.")

  /**
   * The service tells its time to the second: after so long it is certainly later than every end, and
   * nothing more can arrive before one.
   */
  private def awaitPassed(ranges: Seq[ShardRange], serviceTime: Instant): Unit = {
    val last = ranges.flatMap(_.until).map(_.millis).maxOption
    last.map(_ - serviceTime.toEpochMilli).filter(_ > 0).foreach(rest => clock.sleep(rest.millis))
  }

  private def retrying[A](call: => A): A = StreamCheck.Retrying(clock, chance)(call)
}

object BatchReadPlanner {

  /** By which a filter's times are widened. */
  val Margin: FiniteDuration = 1.minute
}
