package sparkkinesis.sink.lane

import scala.collection.mutable

import sparkkinesis.model.aggregate.AggregateTags
import sparkkinesis.model.{PartitionKeyHasher, PutEntry, ShardId, ShardMap}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.metrics.{KeyVotes, ShardTraffic}
import sparkkinesis.sink.rate.{RecordSum, TargetStream}

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
  private val name = stream.ref.toString
  private val hash = new PartitionKeyHasher
  private var map = stream.shards()
  private var lanes = map.shards.map(newLane(_, now))
  private var byShard = lanes.map(lane => lane.shard -> lane).toMap
  private var closedTraffic = Vector.empty[ShardTraffic]
  private val elsewhere = mutable.Map.empty[ShardId, ShardTraffic] // in shards without a lane

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
   * Whether the records of an aggregate keep the hash keys of their own. They do only if order
   * matters: after a reshard, such an aggregate may belong to several shards.
   */
  def keepsHashKeys: Boolean = options.isOrdered && tags.isEmpty

  /**
   * Adds a record at the end of the lane that it belongs to now. If order matters, and with tags,
   * an aggregate is taken apart first, because its records may belong to several lanes, and even a
   * single record joins the open aggregate, so that it does not overtake the records there.
   */
  def addAgain(record: PendingRecord): Unit =
    if (options.aggregation.isEmpty || !options.isOrdered && tags.isEmpty)
      laneOf(record.hashHi, record.hashLo).enqueue(record)
    else
      record.userEntries.map(asPut).foreach { entry =>
        hash.hash(entry)
        laneOf(hash.hi, hash.lo)
          .add(entry, hash.hi, hash.lo, record.arrivedAt, record.failures)
      }

  /**
   * Removes the records that were tried for too long. See [[Lane.expire]].
   *
   * @param removed is called with each removed record
   */
  def expire(before: Long)(removed: PendingRecord => Unit): Vector[ExpiredRecord] =
    lanes.toVector.flatMap { lane =>
      val records = lane.expire(before)
      val error = records.flatMap(_.failures).headOption.fold("")(_.lastMessage)
      records.foreach(removed)
      records.flatMap(expired(lane.shard, _, error))
    }

  /**
   * The caller's records in an expired one. Without order, the hash keys in an aggregate are not
   * those of the caller.
   */
  private def expired(shard: ShardId, record: PendingRecord, error: String) =
    record.userEntries.map { entry =>
      ExpiredRecord(
        stream.ref,
        shard,
        if (record.isAggregate) entry.copy(explicitHashKey = None) else entry,
        record.failures.fold(0)(_.attempts),
        record.failures.fold(error)(_.lastMessage),
        record.failures.exists(_.mayBeWritten)
      )
    }

  /**
   * An entry as the caller put it. With tags, the hash key is that of the aggregate, and the caller
   * puts none.
   */
  private def asPut(entry: PutEntry): PutEntry =
    if (tags.isEmpty) entry else entry.copy(explicitHashKey = None)

  /** Kinesis wrote these records to the shard, which may have no lane any more, or none yet. */
  def written(shard: ShardId, records: RecordSum): Unit =
    byShard.get(shard).fold(writtenElsewhere(shard, records))(_.written(records))

  private def writtenElsewhere(shard: ShardId, sum: RecordSum): Unit = if (sum.records > 0) {
    val records = sum.records.toLong
    val traffic =
      ShardTraffic(name, shard.toString, all.size, records, sum.bytes, 0, 0, KeyVotes.Zero)
    elsewhere(shard) = elsewhere.get(shard).fold(traffic)(_ + traffic)
  }

  /** The lanes that the user records of the record belong to now. */
  def lanesOf(record: PendingRecord): Seq[Lane] = record.userEntries.map { entry =>
    hash.hash(entry)
    laneOf(hash.hi, hash.lo)
  }.distinct

  /** Adds records as `addAgain` does, but before all that wait. */
  def addFirst(records: Seq[PendingRecord]): Unit =
    if (records.nonEmpty) (records ++ lanes.flatMap(_.drain())).foreach(addAgain)

  /** Keeps the lanes of shards that are still open. Records of other lanes move to new lanes. */
  def changeShards(shards: ShardMap, now: Long): Unit = {
    val (lanesBefore, lanesByShard) = (lanes, byShard)
    map = shards
    lanes = shards.shards.map(id => lanesByShard.getOrElse(id, newLane(id, now)))
    byShard = lanes.map(lane => lane.shard -> lane).toMap
    val closed = lanesBefore.filterNot(contains)
    closedTraffic = traffic(closed, now)
    closed.flatMap(_.drain()).foreach(addAgain)
  }

  /** What was done with the shards, including closed ones. */
  def traffic(now: Long): Vector[ShardTraffic] =
    ShardTraffic.sum(elsewhere.values ++ traffic(lanes, now))

  private def traffic(lanes: Seq[Lane], now: Long): Vector[ShardTraffic] = {
    val shards = if (map eq ShardMap.Whole) 0 else all.size
    ShardTraffic.sum(closedTraffic ++ lanes.map(_.traffic(name, shards, now)))
  }

  private def laneOf(hashHi: Long, hashLo: Long): Lane = lanes(map.indexOf(hashHi, hashLo))

  private def newLane(shard: ShardId, now: Long): Lane = new Lane(
    shard,
    stream.rate(shard, now),
    options.aggregation.map {
      new OpenAggregate(_, stream.maxRecordBytes, sharesHashKey = !keepsHashKeys, tags)
    },
    options.isOrdered,
    now
  )
}
