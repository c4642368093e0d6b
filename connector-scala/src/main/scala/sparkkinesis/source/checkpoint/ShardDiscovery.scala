package sparkkinesis.source.checkpoint

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import sparkkinesis.client.{Backoff, Clock, KinesisClient, ShardFilter, ShardSnapshot}
import sparkkinesis.compat._
import sparkkinesis.model.offset.{ShardProgress, StreamOffset}
import sparkkinesis.model.{HashKey, Shard, StreamRef}
import sparkkinesis.source.position.{ByShard, ShardStarts, StartingPosition}
import sparkkinesis.source.{SourceException, StreamClient}

/** Finds out which shards there are. */
object ShardDiscovery {

  /** Of the service's `Date` header. */
  private val ServiceTimeStep = 1.second
  private val Attempts = 5
  private val ListingBackoff = Backoff(500.millis, 2.seconds)

  /**
   * The first offset of a new query. `latest` is decided here, once, as a time.
   *
   * @throws SourceException where the start cannot be, or the service lists shards that do not cover
   *   every hash key, which it may for a moment after a reshard, at each of several attempts
   */
  def initialOffset(
      stream: StreamClient,
      start: ByShard[StartingPosition],
      clock: Clock,
      chance: () => Double
  ): StreamOffset = {
    val summary = stream.client.describeStream(stream.ref)
    val isLatest = start.all.forall(_ == StartingPosition.Latest)
    val filter = if (isLatest) ShardFilter.AtLatest else ShardFilter.FromTrimHorizon
    val snapshot = wholeListing(stream.client, stream.ref, filter, clock, chance, 1)
    // After the listing: what arrives in between then belongs to shards already listed.
    val now = serviceNow(clock.now, snapshot.serverTime)
    val starts = new ShardStarts(stream, start, summary.retention, now, clock)
    starts.check(snapshot.shards)
    val listed = snapshot.shards.map(_.id).toSet
    val shards = snapshot.shards.map { shard =>
      val begin = starts.of(shard)
      // Parents that are no longer listed have expired with all their records.
      val parents = shard.parents.toSet.intersect(listed)
      shard.id -> ShardProgress(begin.progress, parents, begin.completeAsOf)
    }
    StreamOffset(summary.arn, summary.created, SortedMap.from(shards))
  }

  /** A listing in which every hash key has its shard: asked again where one has not. */
  @tailrec
  private[source] def wholeListing(
      client: KinesisClient,
      stream: StreamRef,
      filter: ShardFilter,
      clock: Clock,
      chance: () => Double,
      attempt: Int
  ): ShardSnapshot = {
    val snapshot = ShardSnapshot.list(client, stream, filter)
    if (coversAllHashKeys(snapshot.shards)) snapshot
    else if (attempt == Attempts)
      throw new SourceException(
        "KINESIS_INCOMPLETE_SHARD_LIST",
        s"The open shards of stream $stream do not cover every hash key (${snapshot.shards.size} shards " +
          s"listed, $Attempts attempts). Wait until a running reshard is over and start the query again."
      )
    else {
      clock.sleep(ListingBackoff.delay(attempt, chance()))
      wholeListing(client, stream, filter, clock, chance, attempt + 1)
    }
  }

  /** Whether the shards without a listed child own every hash key between them. */
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
   * The driver's clock where it may be right: the service tells its own to the second, rounded down.
   * A start in the service's future would skip records, so a driver that is plainly ahead is not
   * believed.
   */
  private[source] def serviceNow(own: Instant, service: Option[Instant]): Instant =
    believable(own, service).orElse(service).getOrElse(own)

  /** The same for an end, which must not lie before records that have arrived. */
  private[source] def serviceNowAtLatest(own: Instant, service: Option[Instant]): Instant =
    believable(own, service)
      .orElse(service.map(_.plusMillis(ServiceTimeStep.toMillis)))
      .getOrElse(own)

  private def believable(own: Instant, service: Option[Instant]): Option[Instant] =
    Option.when(service.forall { theirs =>
      !own.isBefore(theirs) && own.isBefore(theirs.plusMillis(ServiceTimeStep.toMillis))
    })(Instant.ofEpochMilli(own.toEpochMilli))
}
