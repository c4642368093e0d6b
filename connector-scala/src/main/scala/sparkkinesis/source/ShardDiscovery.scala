package sparkkinesis.source

import java.time.Instant

import scala.annotation.tailrec
import scala.collection.immutable.SortedMap
import scala.concurrent.duration._

import sparkkinesis.client._
import sparkkinesis.model._

/** Where a new query begins, as its user said. */
sealed trait StartingPosition

object StartingPosition {
  case object Latest extends StartingPosition
  case object TrimHorizon extends StartingPosition
  final case class AtTimestamp(instant: Instant) extends StartingPosition
}

/**
 * The stream's shards at one time.
 *
 * @param serverTime the service's clock, where it tells
 */
final case class ShardSnapshot(shards: Seq[Shard], serverTime: Option[Instant])

/** Finds out which shards there are. */
object ShardDiscovery {

  /** Of the service's `Date` header. */
  private val ServiceTimeStep = 1.second
  private val Attempts = 5
  private val ListingBackoff = Backoff(500.millis, 2.seconds)

  /** Every page of `ListShards`. */
  def listAll(client: KinesisClient, stream: StreamRef, filter: ShardFilter): ShardSnapshot = {
    @tailrec
    def more(listing: ShardListing, before: Vector[Shard]): Vector[Shard] = {
      val shards = before ++ listing.shards
      listing.nextToken match {
        case Some(token) => more(client.listShards(ListShardsRequest.Next(stream, token)), shards)
        case None => shards
      }
    }
    val first = client.listShards(ListShardsRequest.First(stream, filter))
    ShardSnapshot(more(first, Vector.empty), first.serverTime)
  }

  /**
   * The first offset of a new query. `latest` is decided here, once, as a time.
   *
   * @throws SourceException where the service lists shards that do not cover every hash key, which it
   *   may for a moment after a reshard, at each of several attempts
   */
  def initialOffset(
      client: KinesisClient,
      stream: StreamRef,
      start: StartingPosition,
      clock: Clock,
      chance: () => Double
  ): StreamOffset = {
    val summary = client.describeStream(stream)
    val filter = start match {
      case StartingPosition.Latest => ShardFilter.AtLatest
      case _ => ShardFilter.FromTrimHorizon
    }
    val snapshot = wholeListing(client, stream, filter, clock, chance, 1)
    // After the listing: what arrives in between then belongs to shards already listed.
    val now = serviceNow(clock.now, snapshot.serverTime)
    start match {
      case StartingPosition.AtTimestamp(instant) if instant.isAfter(now) =>
        throw new SourceException(
          "KINESIS_START_IN_FUTURE",
          s"Option 'startingPosition' is '$instant', and by the service's clock it is $now. Use " +
            "'latest' to read what comes from now on."
        )
      case _ =>
    }
    val horizon = now.minusMillis(summary.retention.toMillis)
    val shards = begin(snapshot.shards, firstProgress(start, now), horizon)
    StreamOffset(summary.arn, summary.created, shards)
  }

  private def firstProgress(start: StartingPosition, now: Instant): Progress = start match {
    case StartingPosition.Latest => Progress.AtTimestamp(now)
    case StartingPosition.TrimHorizon => Progress.TrimHorizon
    case StartingPosition.AtTimestamp(instant) => Progress.AtTimestamp(instant)
  }

  private def begin(
      shards: Seq[Shard],
      progress: Progress,
      horizon: Instant
  ): SortedMap[ShardId, ShardProgress] = {
    val listed = shards.map(_.id).toSet
    // What is trimmed already is not owed.
    val completeAsOf = progress match {
      case Progress.AtTimestamp(instant) => Some(instant).filter(_.isAfter(horizon))
      case _ => None
    }
    SortedMap.from(shards.map { shard =>
      // Parents that are no longer listed have expired with all their records.
      shard.id -> ShardProgress(progress, shard.parents.toSet.intersect(listed), completeAsOf)
    })
  }

  @tailrec
  private def wholeListing(
      client: KinesisClient,
      stream: StreamRef,
      filter: ShardFilter,
      clock: Clock,
      chance: () => Double,
      attempt: Int
  ): ShardSnapshot = {
    val snapshot = listAll(client, stream, filter)
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
