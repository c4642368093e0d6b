package sparkkinesis.simulator.state

import java.time.Instant

import scala.annotation.tailrec
import scala.concurrent.duration.FiniteDuration

import sparkkinesis.client.{StreamStatus, StreamSummary}
import sparkkinesis.model.{HashKey, HashKeyRange, ShardId, StreamArn, StreamName}

/**
 * One stream.
 *
 * @param shards every shard that the stream ever had; the index is the shard's number
 * @param open numbers of the open shards, by hash key
 * @param change status that callers see until the change ends
 * @param trimmedTo milliseconds since 1970: a longer retention period does not restore earlier
 *   records
 * @param distributed number of records that were distributed without a key
 * @param planned the next splits and merges, in the order of their times
 * @param load what the stream received in the last second in which it received something; counted
 *   only if on-demand streams scale
 */
private[simulator] final case class StreamState(
    arn: StreamArn,
    created: Instant,
    config: StreamConfig,
    shards: Vector[ShardState],
    open: Vector[Int],
    change: Change,
    trimmedTo: Long = 0,
    distributed: Long = 0,
    consumers: Consumers = Consumers.none,
    planned: Vector[PlannedReshard] = Vector.empty,
    load: Load = Load(0, 0)
) {
  def status(now: Instant): StreamStatus =
    if (now.isBefore(change.until)) change.status else StreamStatus.Active

  def isGone(now: Instant): Boolean =
    change.status == StreamStatus.Deleting && !now.isBefore(change.until)

  /** Records that arrived before this time are trimmed. */
  def horizonMillis(now: Instant): Long =
    math.max(now.toEpochMilli - config.retention.toMillis, trimmedTo)

  /**
   * Open shards, and closed ones that may still have records.
   *
   * @param lag age of the listing: later changes are not visible
   */
  def listed(now: Instant, lag: FiniteDuration): Vector[ShardState] = {
    val kept = shards.filter(isKept(_, now))
    if (lag.toNanos == 0) kept
    else {
      val lagging = now.minusMillis(lag.toMillis)
      val seen = if (lagging.isBefore(created)) created else lagging
      kept
        .filterNot(_.created.isAfter(seen))
        .map(shard => shard.copy(closed = shard.closed.filterNot(_.isAfter(seen))))
    }
  }

  def find(id: ShardId, now: Instant): Option[ShardState] =
    ShardState.number(id).flatMap(shards.lift).filter(isKept(_, now))

  def openShards: Vector[ShardState] = open.map(shards)

  def children(parent: ShardState): Vector[ShardState] =
    shards.filter(_.parents.contains(parent.id))

  /** The open shard that owns the hash key. Open shards cover the key space exactly once. */
  def owner(key: HashKey): ShardState = shards(open(openIndex(key)))

  /** The index in `open` of the shard that owns the hash key. */
  private def openIndex(key: HashKey): Int = {
    @tailrec def search(low: Int, high: Int): Int =
      if (high - low == 1) low
      else {
        val middle = (low + high) >>> 1
        if (shards(open(middle)).hashKeys.first <= key) search(middle, high)
        else search(low, middle)
      }
    search(0, open.size)
  }

  /** The next open shard in turn, whatever the keys. */
  def distribute: (StreamState, ShardState) = {
    val turn = (distributed % open.size).toInt
    (copy(distributed = distributed + 1), shards(open(turn)))
  }

  /** Removes expired records. Returns the same shards if there are none. */
  def trimmed(now: Instant): StreamState = {
    val horizon = horizonMillis(now)
    val kept = shards.map(_.trimmed(horizon))
    if (kept.corresponds(shards)(_ eq _)) this else copy(shards = kept)
  }

  def updated(shard: ShardState): StreamState = copy(shards = shards.updated(shard.number, shard))

  /** @param start first hash key of the second child, inside the range of the shard */
  def split(shard: ShardState, start: HashKey, now: Instant): StreamState = {
    val (low, high) = shard.hashKeys.splitAt(start)
    replace(Seq(shard), Seq(low, high), now)
  }

  def merge(shard: ShardState, adjacent: ShardState, now: Instant): StreamState =
    replace(Seq(shard, adjacent), Seq(shard.hashKeys.merge(adjacent.hashKeys)), now)

  /** The splits and merges after which the open shards have these ranges. */
  def steps(ranges: Seq[HashKeyRange]): Vector[ReshardStep] = {
    val starts = openShards.map(_.hashKeys.first)
    val wanted = ranges.map(_.first)
    wanted.filterNot(starts.toSet).map(ReshardStep.Cut(_)).toVector ++
      starts.filterNot(wanted.toSet).map(ReshardStep.Join(_))
  }

  def resharded(step: ReshardStep, now: Instant): StreamState = step match {
    case ReshardStep.Cut(start) => split(owner(start), start, now)
    case ReshardStep.Join(start) => merge(owner(HashKey(start.value - 1)), owner(start), now)
  }

  /** The stream after the splits and merges that were planned until now. */
  def resharded(now: Instant): StreamState = {
    val (due, later) = planned.span(!_.at.isAfter(now))
    due.foldLeft(copy(planned = later))((stream, next) => stream.resharded(next.step, next.at))
  }

  def summary(now: Instant): StreamSummary =
    StreamSummary(
      arn,
      status(now),
      created,
      config.retention,
      open.size,
      config.maxRecordBytes,
      Some(config.distribution)
    )

  def details(now: Instant): StreamDetails =
    StreamDetails(summary(now), config, consumers.count(now))

  private def isKept(shard: ShardState, now: Instant): Boolean =
    shard.closed.forall(_.toEpochMilli >= horizonMillis(now))

  /**
   * Replaces parents by children. Its cost does not depend on the number of shards, because scaling
   * calls it thousands of times.
   *
   * @param parents neighbours, in any order
   * @param ranges ranges of the children, in order
   */
  private def replace(
      parents: Seq[ShardState],
      ranges: Seq[HashKeyRange],
      now: Instant
  ): StreamState = {
    val closed = parents.foldLeft(shards)((all, p) => all.updated(p.number, p.close(now)))
    val children = ranges.zipWithIndex.map { case (range, i) =>
      ShardState.open(shards.size + i, parents, range, now)
    }
    val place = openIndex(ranges.head.first)
    val (before, rest) = open.splitAt(place)
    copy(
      shards = closed ++ children,
      open = before ++ children.map(_.number) ++ rest.drop(parents.size)
    )
  }
}

/** The description of a stream. */
final case class StreamDetails(
    summary: StreamSummary,
    config: StreamConfig,
    consumers: Int
) {
  def name: StreamName = summary.arn.name
}

/** A split or a merge of the shards that then own the hash keys. */
private[simulator] sealed trait ReshardStep

private[simulator] object ReshardStep {

  /** Splits a shard where the second child starts. */
  final case class Cut(start: HashKey) extends ReshardStep

  /** Merges the shard that starts there with the one before it. */
  final case class Join(start: HashKey) extends ReshardStep
}

private[simulator] final case class PlannedReshard(at: Instant, step: ReshardStep)

/** @param second seconds since 1970 */
private[simulator] final case class Load(second: Long, records: Int)

/** A change that is in progress, and its end. */
private[simulator] final case class Change(status: StreamStatus, until: Instant)

private[simulator] object StreamState {
  def create(
      arn: StreamArn,
      count: Int,
      config: StreamConfig,
      settings: Settings,
      now: Instant
  ): StreamState = {
    val shards = HashKeyRange.even(count).zipWithIndex.map { case (range, number) =>
      ShardState.open(number, Nil, range, now)
    }
    val change = Change(StreamStatus.Creating, settings.changed(now))
    StreamState(arn, now, config, shards.toVector, shards.indices.toVector, change)
  }
}
