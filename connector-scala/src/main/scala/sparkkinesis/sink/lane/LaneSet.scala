package sparkkinesis.sink.lane

import sparkkinesis.model.aggregate.AggregateTags
import sparkkinesis.model.{PartitionKeyHasher, PutEntry, ShardId, ShardMap}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.metrics.ShardSleep
import sparkkinesis.sink.rate.TargetStream

/**
 * The lanes of a stream, one per shard of the latest listing.
 *
 * @param tags of the aggregates, for exactly once
 */
private[sink] final class LaneSet(
    stream: TargetStream,
    options: SinkOptions,
    tags: Option[AggregateTags],
    now: Long
) {
  private val hash = new PartitionKeyHasher
  private var map = stream.shards
  private var lanes = map.shards.map(newLane(_, now))
  private var byShard = lanes.map(lane => lane.shard -> lane).toMap
  private var closedSleep = Option.empty[ShardSleep]

  /** The shards that the lanes stand for. */
  def shards: ShardMap = map

  def all: IndexedSeq[Lane] = lanes

  def contains(lane: Lane): Boolean = byShard.get(lane.shard).exists(_ eq lane)

  /**
   * Whether Kinesis wrote a record of the lane to another shard than predicted. Never true if the
   * service chooses the shards itself.
   */
  def isMisplaced(shard: ShardId, lane: Lane): Boolean =
    shard != lane.shard && (map ne ShardMap.Whole)

  /** Adds a record; `hashHi` and `hashLo` are the hash key that determines its shard. */
  def add(entry: PutEntry, hashHi: Long, hashLo: Long, now: Long): Unit =
    laneOf(hashHi, hashLo).add(entry, hashHi, hashLo, now, None)

  /**
   * Adds a record at the end of the lane that it belongs to now. An aggregate is taken apart first,
   * because its records may belong to several lanes. With aggregation even a single record joins
   * the open aggregate, so that it does not overtake the records there.
   */
  def addAgain(record: PendingRecord): Unit =
    if (options.aggregation.isEmpty) laneOf(record.hashHi, record.hashLo).enqueue(record)
    else
      record.userEntries.map(asPut).foreach { entry =>
        hash.hash(entry)
        laneOf(hash.hi, hash.lo)
          .add(entry, hash.hi, hash.lo, record.arrivedAt, record.firstFailure)
      }

  /** With tags, the hash key is that of the aggregate, and the caller puts none. */
  private def asPut(entry: PutEntry): PutEntry =
    if (tags.isEmpty) entry else entry.copy(explicitHashKey = None)

  /** The lanes that the user records of the record belong to now. */
  def lanesOf(record: PendingRecord): Seq[Lane] = record.userEntries.map { entry =>
    hash.hash(entry)
    laneOf(hash.hi, hash.lo)
  }.distinct

  /** Like `addAgain`, but if order matters, the records go before all that wait. */
  def addFirst(records: Seq[PendingRecord]): Unit = if (records.nonEmpty) {
    val waiting = if (options.isOrdered) lanes.flatMap(_.drain()) else Nil
    (records ++ waiting).foreach(addAgain)
  }

  /** Keeps the lanes of shards that are still open. Records of other lanes move to new lanes. */
  def changeShards(shards: ShardMap, now: Long): Unit = {
    val (lanesBefore, lanesByShard) = (lanes, byShard)
    map = shards
    lanes = shards.shards.map(id => lanesByShard.getOrElse(id, newLane(id, now)))
    byShard = lanes.map(lane => lane.shard -> lane).toMap
    val closed = lanesBefore.filterNot(contains)
    closedSleep = longestSleep(closed, now)
    closed.flatMap(_.drain()).foreach(addAgain)
  }

  /** The sleep of the shard that records waited for longest, including closed shards. */
  def longestSleep(now: Long): Option[ShardSleep] = longestSleep(lanes, now)

  private def longestSleep(lanes: Seq[Lane], now: Long): Option[ShardSleep] = {
    val longest = lanes.reduceOption((a, b) => if (b.sleep(now) > a.sleep(now)) b else a)
    val sleep = longest.map { lane =>
      ShardSleep(stream.ref.toString, lane.shard.toString, lane.sleep(now))
    }
    ShardSleep.longest(closedSleep ++ sleep)
  }

  private def laneOf(hashHi: Long, hashLo: Long): Lane = lanes(map.indexOf(hashHi, hashLo))

  private def newLane(shard: ShardId, now: Long): Lane = new Lane(
    shard,
    stream.rate(shard, now),
    options.aggregation.map(new OpenAggregate(_, stream.maxRecordBytes, tags)),
    options.isOrdered
  )
}
