package sparkkinesis.sink.lane

import sparkkinesis.model.{KeyHash, PutEntry, ShardId, ShardMap}
import sparkkinesis.sink.rate.TargetStream
import sparkkinesis.sink.{ShardSleep, SinkOptions}

/** A lane for each shard of a stream, as it was listed last. */
private[sink] final class LaneSet(stream: TargetStream, options: SinkOptions, now: Long) {
  private val hash = new KeyHash
  private var map = stream.shards
  private var lanes = map.shards.map(newLane(_, now))
  private var byShard = lanes.map(lane => lane.shard -> lane).toMap
  private var endedSleep = Option.empty[ShardSleep]

  /** What tells the lanes apart. */
  def shards: ShardMap = map

  def all: IndexedSeq[Lane] = lanes

  def contains(lane: Lane): Boolean = byShard.get(lane.shard).exists(_ eq lane)

  /**
   * Whether a record that was sent with the lane's has come to another shard. Where the service
   * chooses the shards itself there is no other.
   */
  def isElsewhere(shard: ShardId, lane: Lane): Boolean =
    shard != lane.shard && (map ne ShardMap.Whole)

  /** Takes a record; `hi` and `lo` are the hash key that chooses its shard. */
  def add(entry: PutEntry, hi: Long, lo: Long, now: Long): Unit =
    laneOf(hi, lo).add(entry, hi, lo, now, None)

  /**
   * To the lane that it belongs to by now, behind what it has; an aggregate in pieces, which may
   * belong to several lanes. Where there are aggregates, what goes alone joins one, too: it must not
   * overtake what is gathered already.
   */
  def addAgain(record: PendingRecord): Unit =
    if (options.aggregation.isEmpty) laneOf(record.hi, record.lo).enqueue(record)
    else
      record.pieces.foreach { entry =>
        hash.hash(entry)
        laneOf(hash.hi, hash.lo).add(entry, hash.hi, hash.lo, record.since, record.trouble)
      }

  /** All that the record's pieces belong to by now. */
  def of(record: PendingRecord): Seq[Lane] = record.pieces.map { entry =>
    hash.hash(entry)
    laneOf(hash.hi, hash.lo)
  }.distinct

  /** As `addAgain`, but with order they come before all that waits. */
  def addFirst(records: Seq[PendingRecord]): Unit = if (records.nonEmpty) {
    val waiting = if (options.isOrdered) lanes.flatMap(_.drain()) else Nil
    (records ++ waiting).foreach(addAgain)
  }

  /** The lanes of shards that are open still stay as they are; the others' records go on. */
  def change(shards: ShardMap, now: Long): Unit = {
    val (before, known) = (lanes, byShard)
    map = shards
    lanes = shards.shards.map(id => known.getOrElse(id, newLane(id, now)))
    byShard = lanes.map(lane => lane.shard -> lane).toMap
    val ended = before.filterNot(contains)
    endedSleep = longestSleep(ended, now)
    ended.flatMap(_.drain()).foreach(addAgain)
  }

  /** Of the shard that records waited for longest, also of those that are open no more. */
  def sleep(now: Long): Option[ShardSleep] = longestSleep(lanes, now)

  private def longestSleep(of: Seq[Lane], now: Long): Option[ShardSleep] = {
    val longest = of.reduceOption((a, b) => if (b.sleep(now) > a.sleep(now)) b else a)
    val sleeps = longest.map { lane =>
      ShardSleep(stream.ref.toString, lane.shard.toString, lane.sleep(now))
    }
    ShardSleep.longest(endedSleep ++ sleeps)
  }

  private def laneOf(hi: Long, lo: Long): Lane = lanes(map.indexOf(hi, lo))

  private def newLane(shard: ShardId, now: Long): Lane = new Lane(
    shard,
    stream.rate(shard, now),
    options.aggregation.map(new OpenAggregate(_, stream.maxRecordBytes)),
    options.isOrdered
  )
}
