package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.compat._
import sparkkinesis.model.offset.StreamOffset
import sparkkinesis.model.{HashKey, Position, Shard, StreamRef}
import sparkkinesis.shard.{SourceException, StreamClient}
import sparkkinesis.source.position.ByShard

/** Lists the shards of a stream, and decides where a new query begins in each. */
object ShardDiscovery {

  /** The resolution of the service's `Date` header. */
  private val ServiceTimeStep = 1.second
  private val Attempts = 5
  private val ListingBackoff = Backoff(500.millis, 2.seconds)

  /**
   * The first offset of a new query. It replaces `latest` by the current time.
   *
   * @throws SourceException if a start is invalid, or if the listed shards do not cover every hash
   *   key in any of several attempts: for a moment after a reshard they may not
   */
  def initialOffset(
      stream: StreamClient,
      start: ByShard[Position],
      clock: Clock
  ): StreamOffset = {
    val summary = Retry.atStart(clock)(stream.client.describeStream(stream.ref))
    val isLatest = start.all.forall(_ == Position.Latest)
    val filter = if (isLatest) ShardFilter.AtLatest else ShardFilter.FromTrimHorizon
    val listing = wholeListing(stream.client, stream.ref, filter, clock)
    // After the listing, so that records that arrive in between belong to shards already listed.
    val now = serviceNow(clock.now, listing.serverTime)
    val starts = new ShardStarts(stream, start, summary, now, clock)
    starts.check(listing.shards)
    val listed = listing.shards.map(_.id).toSet
    val shards = listing.shards.map { shard =>
      // A parent that is no longer listed has expired with all its records.
      val parents = shard.parents.toSet.intersect(listed)
      shard.id -> starts.of(shard).copy(waitsFor = parents)
    }
    StreamOffset(summary.arn, summary.created, SortedMap.from(shards))
  }

  /**
   * A listing whose shards cover every hash key. Lists them again if they do not, and repeats calls
   * that fail for the moment.
   */
  private[source] def wholeListing(
      client: KinesisClient,
      stream: StreamRef,
      filter: ShardFilter,
      clock: Clock
  ): ShardListing = {
    @tailrec def attempt(count: Int): ShardListing = {
      val lister = new ShardLister(client, stream, filter)
      val listing = Retry.atStart(clock)(lister.list())
      if (coversAllHashKeys(listing.shards)) listing
      else if (count == Attempts)
        throw new SourceException(
          "KINESIS_INCOMPLETE_SHARD_LIST",
          s"The open shards of stream $stream do not cover every hash key " +
            s"(${listing.shards.size} listed shards, $Attempts attempts). Wait until a reshard " +
            "has finished, then start the query again."
        )
      else {
        clock.sleep(ListingBackoff.delay(count, clock.chance()))
        attempt(count + 1)
      }
    }
    attempt(1)
  }

  /** Whether the shards without a listed child cover every hash key. */
  private[source] def coversAllHashKeys(shards: Seq[Shard]): Boolean = {
    val parents = shards.flatMap(_.parents).toSet
    val tips = shards.filterNot(shard => parents(shard.id)).map(_.hashKeys).sortBy(_.first)
    tips.nonEmpty && tips.head.first == HashKey.Min &&
    tips
      .foldLeft(Option(BigInt(0))) { (next, range) =>
        next.filter(range.first.value <= _).map(_.max(range.last.value + 1))
      }
      .contains(HashKey.Max.value + 1)
  }

  /**
   * The time at which a new query begins: the driver's time if the service's clock does not
   * contradict it, else the service's. The service rounds its time down to seconds. A start in the
   * service's future would skip records.
   */
  private[source] def serviceNow(own: Instant, service: Option[Instant]): Instant =
    believable(own, service).orElse(service).getOrElse(own)

  /** The time of the service for an end, which must not be before records that have arrived. */
  private[source] def serviceNowAtLatest(own: Instant, service: Option[Instant]): Instant =
    believable(own, service)
      .orElse(service.map(_.plusMillis(ServiceTimeStep.toMillis)))
      .getOrElse(own)

  private def believable(own: Instant, service: Option[Instant]): Option[Instant] =
    Option.when(service.forall { theirs =>
      !own.isBefore(theirs) && own.isBefore(theirs.plusMillis(ServiceTimeStep.toMillis))
    })(Instant.ofEpochMilli(own.toEpochMilli))
}
