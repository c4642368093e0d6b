package sparkkinesis.sink

import sparkkinesis.model._

/** A lane for each shard of a stream, as it was listed last. */
private[sink] final class LaneSet(stream: TargetStream, options: SinkOptions, now: Long) {
  private val hash = new KeyHash
  private var map = stream.shards
  private var lanes = map.shards.map(newLane(_, now))

  /** What tells the lanes apart. */
  def shards: ShardMap = map

  def all: IndexedSeq[Lane] = lanes

  def contains(lane: Lane): Boolean = lanes.contains(lane)

  /**
   * Whether a record that was sent with the lane's has come to another shard. Where the service
   * chooses the shards itself there is no other.
   */
  def isElsewhere(shard: ShardId, lane: Lane): Boolean =
    shard != lane.shard && (map ne ShardMap.Whole)

  /** Takes a record; `hi` and `lo` are the hash key that chooses its shard. */
  def add(entry: PutEntry, hi: Long, lo: Long, now: Long): Unit =
    laneOf(hi, lo).add(entry, hi, lo, now, None)

  /** To the lane that it belongs to by now; an aggregate in pieces, which may belong to several. */
  def addAgain(record: PendingRecord): Unit =
    if (!record.isAggregate) laneOf(record.hi, record.lo).enqueue(record)
    else
      UserRecords.of(record.entry).foreach { entry =>
        hash.hash(entry)
        laneOf(hash.hi, hash.lo).add(entry, hash.hi, hash.lo, record.since, record.trouble)
      }

  /** The lanes of shards that are open still stay as they are; the others' records go on. */
  def change(shards: ShardMap, now: Long): Unit = {
    val before = lanes
    map = shards
    lanes = shards.shards.map(id => before.find(_.shard == id).getOrElse(newLane(id, now)))
    before.filterNot(contains).flatMap(_.drain()).foreach(addAgain)
  }

  /** Milliseconds that records waited for their shard, of the shard with the longest wait. */
  def sleep: Long = lanes.iterator.map(_.sleep).foldLeft(0L)(math.max)

  private def laneOf(hi: Long, lo: Long): Lane = lanes(map.indexOf(hi, lo))

  private def newLane(shard: ShardId, now: Long): Lane = new Lane(
    shard,
    stream.rate(shard, now),
    options.aggregation.map(new OpenAggregate(_, stream.maxRecordBytes)),
    options.isOrdered
  )
}
