package sparkkinesis.sink.lane

import sparkkinesis.client.PutResult
import sparkkinesis.model.aggregate.AggregateTags
import sparkkinesis.model.{PartitionKeyHasher, PutEntry, ShardId, ShardMap}
import sparkkinesis.sink.SinkOptions
import sparkkinesis.sink.metrics.{ShardTraffic, SinkCounter, SinkCounters}
import sparkkinesis.sink.rate.TargetStream

/**
 * The lanes of a stream, one per shard of the latest listing.
 *
 * @param tags of the aggregates, for exactly once
 * @param chance evenly distributed in `[0, 1)`
 */
private[sink] final class LaneSet(
    stream: TargetStream,
    options: SinkOptions,
    tags: Option[AggregateTags],
    chance: () => Double,
    counters: SinkCounters,
    now: Long
) {
  import LaneSet._

  private val name = stream.ref.toString
  private val hash = new PartitionKeyHasher

  /** The lanes that have records. */
  val waiting: WaitingLanes = new WaitingLanes(options.linger.toMillis)

  private var map = stream.shards()
  private var lanes = map.shards.map(newLane(_, now))
  private var byShard = lanes.map(lane => lane.shard -> lane).toMap
  private var closed = Vector.empty[Lane]

  /** The shards that the lanes stand for. */
  def shards: ShardMap = map

  def contains(lane: Lane): Boolean = byShard.get(lane.shard).exists(_ eq lane)

  /**
   * Whether Kinesis wrote a record of the lane to another shard than predicted. Never true if the
   * service chooses the shards itself.
   */
  def isMisplaced(shard: ShardId, lane: Lane): Boolean = shard != lane.shard && !isWhole

  /** Whether Kinesis wrote no record of the part to another shard than predicted. */
  def areWritten(all: PutResult.AllWritten, part: Request.Part): Boolean =
    isWhole || all.areIn(part.lane.shard, part.from, part.until)

  private def isWhole = map eq ShardMap.Whole

  /**
   * Adds a record. If its key is random, and its shard is behind or has clearly more waiting
   * records than the mean, it may get another key.
   */
  def add(entry: PutEntry, now: Long): Unit = {
    val lane = laneOf(entry)
    def isBehind = lane.isBehind(now)
    def isLate = isBehind || lane.backlogMillis > waiting.backlogMillis / lanes.size + Lead
    val other = if (mayMove(entry) && isLate) otherKey(entry, lane, isBehind, now) else None
    other.fold(lane.add(entry, now, None))(it => laneOf(it).add(it, now, None))
  }

  /**
   * Moves a record to another lane after its shard refused it, if its key is random.
   *
   * @return whether it was moved
   */
  def moves(record: PendingRecord, from: Lane, now: Long): Boolean = {
    val other =
      if (mayMove(record.entry)) otherKey(record.entry, from, isBehind = true, now) else None
    other.foreach(it => laneOf(it).enqueue(record.withEntry(it)))
    other.nonEmpty
  }

  /**
   * The record with a key of a shard that takes it earlier: of one that is not behind if the lane
   * is, or of one like the lane with clearly fewer waiting records. If rows come faster than all
   * shards take them, all are behind.
   *
   * @param isBehind whether the lane is behind, or its shard has refused the record
   */
  private def otherKey(entry: PutEntry, lane: Lane, isBehind: Boolean, now: Long) = {
    val others = Iterator.fill(KeyAttempts)(entry.copy(partitionKey = randomKey()))
    val earlier = others.find { it =>
      val other = laneOf(it)
      def isShorter = other.backlogMillis + Lead < lane.backlogMillis
      (other ne lane) &&
      (if (other.isBehind(now)) isBehind && isShorter else isBehind || isShorter)
    }
    if (earlier.nonEmpty) counters.add(SinkCounter.ReplacedKeys, 1)
    earlier
  }

  private def mayMove(entry: PutEntry) = entry.hasRandomKey && entry.explicitHashKey.isEmpty &&
    !options.isOrdered && tags.isEmpty && lanes.size > 1

  private def randomKey() = PutEntry.randomKey((chance() * Long.MaxValue).toLong)

  /**
   * Whether the records of an aggregate keep the hash keys of their own. They do only if order
   * matters: after a reshard, such an aggregate may belong to several shards.
   */
  def keepsHashKeys: Boolean = options.isOrdered && tags.isEmpty

  def isOrdered: Boolean = options.isOrdered

  /**
   * Adds a record at the end of the lane that it belongs to now. If order matters, and with tags,
   * an aggregate is taken apart first, because its records may belong to several lanes, and even a
   * single record joins the open aggregate, so that it does not overtake the records there. With
   * tags, the new aggregates are closed: there are at least as many as were taken apart, so every
   * number is used again.
   */
  def addAgain(record: PendingRecord): Unit =
    if (options.aggregation.isEmpty || !options.isOrdered && tags.isEmpty)
      laneOf(record.entry).enqueue(record)
    else {
      val entries = record.userEntries.map(asPut)
      entries.foreach(it => laneOf(it).add(it, record.arrivedAt, record.failures))
      tags.foreach { it =>
        it.giveBack(record.entry.data)
        lanesOf(entries).foreach(_.closeAggregate())
      }
    }

  /** From now on, something else than the shards holds up the records. */
  def endSleep(now: Long): Unit = lanes.foreach(_.endSleep(now))

  /** The waiting records that were sent first, one per shard; none if all were sent later. */
  def oldestFailures(before: Long): IndexedSeq[(ShardId, Failures)] =
    if (waiting.firstSent > before) Vector.empty
    else {
      val oldest = lanes.flatMap(lane => lane.oldestFailure.map(lane.shard -> _))
      waiting.firstSent = oldest.foldLeft(Lane.Never)((time, it) => math.min(time, it._2.sentAt))
      oldest
    }

  /**
   * Removes the records that were tried for too long. See [[Lane.expire]].
   *
   * @param removed is called with each removed record
   */
  def expire(before: Long, now: Long)(removed: PendingRecord => Unit): Vector[ExpiredRecord] =
    if (waiting.firstSent > before) Vector.empty
    else
      lanes.toVector.flatMap { lane =>
        val records = lane.expire(before, now)
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

  /** The lanes that the user records of the record belong to now. */
  def lanesOf(record: PendingRecord): Seq[Lane] = lanesOf(record.userEntries.map(asPut))

  private def lanesOf(entries: Seq[PutEntry]): Seq[Lane] = entries.map(laneOf).distinct

  /** Adds records as `addAgain` does, but before all that wait. */
  def addFirst(records: Seq[PendingRecord], now: Long): Unit =
    if (records.nonEmpty) (records ++ lanes.flatMap(_.drain(now))).foreach(addAgain)

  /** Keeps the lanes of shards that are still open. Records of other lanes move to new lanes. */
  def changeShards(shards: ShardMap, now: Long): Unit = {
    val (lanesBefore, lanesByShard) = (lanes, byShard)
    map = shards
    lanes = shards.shards.map(id => lanesByShard.getOrElse(id, newLane(id, now)))
    byShard = lanes.map(lane => lane.shard -> lane).toMap
    val others = lanesBefore.filterNot(contains)
    closed ++= others
    others.flatMap(_.drain(now)).foreach(addAgain)
  }

  /** What was done with the shards, including closed ones. */
  def traffic(now: Long): Vector[ShardTraffic] = {
    val shards = if (isWhole) 0 else lanes.size
    ShardTraffic.sum((closed ++ lanes).filter(_.isUsed).map(_.traffic(name, shards, now)))
  }

  private def laneOf(entry: PutEntry): Lane =
    if (lanes.size == 1) lanes(0)
    else {
      hash.hash(entry)
      lanes(map.indexOf(hash.hi, hash.lo))
    }

  private def newLane(shard: ShardId, now: Long): Lane = new Lane(
    shard,
    stream.rate(shard, now),
    options.aggregation.map {
      new OpenAggregate(_, stream.maxRecordBytes, sharesHashKey = !keepsHashKeys, tags)
    },
    options.isOrdered,
    now,
    waiting.newPlace(),
    waiting.update
  )
}

private object LaneSet {

  /** Number of keys that are tried until one belongs to such a shard. */
  private val KeyAttempts = 8

  /** Milliseconds of [[Lane.backlogMillis]] that a row without a key must gain. */
  private val Lead = 20L
}
