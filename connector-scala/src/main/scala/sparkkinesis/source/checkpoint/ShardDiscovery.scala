package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.compat._
import sparkkinesis.model.offset.StreamOffset
import sparkkinesis.model.{Position, ServiceLimits, Shard, ShardId, StreamRef}
import sparkkinesis.shard.StreamClient
import sparkkinesis.source.position.ByShard

/** Lists the shards of a stream, and decides where a new query begins in each. */
private[sparkkinesis] object ShardDiscovery {

  /** The resolution of the service's `Date` header. */
  private val ServiceTimeStep = 1.second
  private val Attempts = 5

  /** Pages without a record after which a shard counts as one without records. */
  private val MostPages = 10
  private val ListingBackoff = Backoff(500.millis, 2.seconds)

  /**
   * The first offset of a new query. It replaces `latest` by the current time.
   *
   * @throws sparkkinesis.shard.SourceException if a start is invalid, or if the listing lacks
   *   shards in each of several attempts: for a moment after a reshard it may
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
   * A listing whose shards cover every hash key, with all their parents that have records. Lists
   * them again if it lacks any, and repeats calls that fail for the moment.
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
      val hidden =
        if (filter == ShardFilter.AtLatest) None
        else hiddenParent(client, stream, listing.shards, clock)
      val hole = ListingHole.ofTips(listing.shards).copy(parents = hidden.toSet)
      if (hole.isEmpty) listing
      else if (count == Attempts)
        throw hole.failure(
          stream,
          s"$Attempts attempts returned such a list, the last one of ${listing.shards.size} shards"
        )
      else {
        clock.sleep(ListingBackoff.delay(count, clock.chance()))
        attempt(count + 1)
      }
    }
    attempt(1)
  }

  /**
   * A parent that is not listed, although it has records. The newest parents are asked for first.
   * If one is gone, those that were closed before it have expired, too.
   */
  private def hiddenParent(
      client: KinesisClient,
      stream: StreamRef,
      listed: Seq[Shard],
      clock: Clock
  ): Option[ShardId] = {
    val ids = listed.map(_.id).toSet
    val unlisted = listed.sortBy(_.id).reverse.flatMap(_.parents).distinct.filterNot(ids)
    unlisted.iterator
      .map(parent => parent -> hasRecords(client, stream, parent, clock))
      .takeWhile { case (_, found) => found.nonEmpty }
      .collectFirst { case (parent, Some(true)) => parent }
  }

  /** `None` if the shard does not exist any more. Many empty pages mean that it has none. */
  private def hasRecords(
      client: KinesisClient,
      stream: StreamRef,
      shard: ShardId,
      clock: Clock
  ): Option[Boolean] =
    try {
      @tailrec def look(from: ShardIterator, left: Int): Boolean = {
        val page = Retry.atStart(clock)(client.getRecords(stream, from, 1))
        page.next match {
          case _ if page.records.nonEmpty => true
          case Some(next) if left > 1 =>
            clock.sleep(ServiceLimits.GetRecordsPeriod)
            look(next, left - 1)
          case _ => false
        }
      }
      val begin = Position.TrimHorizon
      Some(look(Retry.atStart(clock)(client.shardIterator(stream, shard, begin)), MostPages))
    } catch { case _: KinesisException.NotFound => None }

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
