package sparkkinesis.sink.lane

import java.util.{ArrayDeque, TreeSet}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import sparkkinesis.model.{PutEntry, ServiceLimits, ShardId}
import sparkkinesis.sink.metrics.ShardTraffic
import sparkkinesis.sink.rate.{RecordSum, ShardRate}

/**
 * The records of one shard, as predicted from their hash keys, in the order in which they arrived.
 *
 * @param rate shared with all tasks of the executor that write to the shard
 * @param open the aggregate that records go into; none without aggregation
 * @param isOrdered whether at most one request at a time has records of the lane, and that request
 *   at most one record per partition key
 * @param createdAt in milliseconds
 * @param changed is called after each change
 */
private[sink] final class Lane(
    val shard: ShardId,
    val rate: ShardRate,
    open: Option[OpenAggregate],
    isOrdered: Boolean,
    createdAt: Long,
    private[lane] val place: LanePlace,
    changed: Lane => Unit
) {
  private val queue = new RecordQueue
  private var inFlight = 0
  private var pausedUntil = 0L
  private var failuresInARow = 0
  private var failedAt = Long.MinValue
  private var blockedSince = Option.empty[Long]
  private var pastSleep = 0L
  private var written = RecordSum.Zero
  private var acknowledgedAt = createdAt

  private var firstSentAt = Lane.Never

  def isEmpty: Boolean = queue.isEmpty && open.forall(_.isEmpty)

  /** Number of Kinesis records that wait for a request. */
  def queuedRecords: Int = queue.size

  /** Bytes of those records. */
  def queuedBytes: Long = queue.bytes

  /** Milliseconds in which the quota of a shard takes those records. */
  def backlogMillis: Long = Lane.backlogMillis(queuedRecords.toLong, queuedBytes)

  /** When the oldest record arrived; `Never` if there is none. */
  def oldestArrival: Long =
    if (queue.isEmpty) open.fold(Lane.Never)(_.arrivedAt) else queue.head.arrivedAt

  /** Kinesis acknowledged some of its records, wherever it wrote them. */
  def acknowledged(records: RecordSum, now: Long): Unit = {
    written += records
    acknowledgedAt = now
  }

  /** Whether its traffic is more than nothing. */
  def isUsed: Boolean = written.records > 0 || pastSleep > 0 || blockedSince.nonEmpty

  /** @param shards number of open shards of the stream */
  def traffic(stream: String, shards: Int, now: Long): ShardTraffic = ShardTraffic(
    stream,
    shard.toString,
    shards,
    written.records,
    written.bytes,
    sleep(now),
    now - createdAt
  )

  /** Whether records are due that its shard cannot take. */
  def isBehind(now: Long): Boolean = blockedSince.exists(_ <= now)

  /** Milliseconds in total that records were ready to be sent and the shard could not take them. */
  private def sleep(now: Long): Long =
    pastSleep + blockedSince.fold(0L)(it => math.max(0L, now - it))

  /** A time before which no waiting record was sent; `Never` if none was sent. */
  def firstSent: Long = firstSentAt

  /** The failures of the waiting record that was sent first. */
  def oldestFailure: Option[Failures] = {
    val failed = queue.failures ++ open.flatMap(_.failed)
    firstSentAt = failed.map(_.sentAt).foldLeft(Lane.Never)(math.min)
    failed.find(_.sentAt == firstSentAt)
  }

  def add(entry: PutEntry, arrivedAt: Long, failure: Option[Failures]): Unit = {
    noteFirstSent(failure)
    open match {
      case Some(aggregate) =>
        aggregate.add(entry, arrivedAt, failure).foreach(queue.addLast)
      case None =>
        val record = new PendingRecord(entry, 1, entry.size.toLong, arrivedAt, arrivedAt)
        record.failures = failure
        queue.addLast(record)
    }
    changed(this)
  }

  /** When the next records may be sent; `Never` if an answer must come first. */
  def readyAt(now: Long): Long =
    if (isOrdered && inFlight > 0) Lane.Never
    else {
      val allowedAt =
        if (!queue.isEmpty) rate.readyAt(queue.size, queue.bytes, queue.head.size, now)
        else rate.readyAt(1, 0, open.fold(0)(_.size), now)
      math.max(allowedAt, pausedUntil)
    }

  /**
   * The shard can take no records before a time, or before an answer comes.
   *
   * @param dueAt when the lane could have sent records
   */
  def block(until: Long, dueAt: Long): Unit = {
    if (until < Lane.Never && blockedSince.isEmpty) blockedSince = Some(dueAt)
    place.blockedUntil = until
    changed(this)
  }

  /** The shard may take records again. */
  def unblock(): Unit = {
    place.blockedUntil = 0
    changed(this)
  }

  /**
   * Moves the records that may be sent to a request that has room.
   *
   * @param isDue whether the open aggregate is sent although it still has room
   */
  def moveTo(request: RequestRecords, isDue: Boolean, now: Long): Unit = {
    val sizeBefore = request.size
    if (!isOrdered) moveFirst(request, isDue, now, Int.MaxValue)
    else if (open.isDefined) moveFirst(request, isDue, now, 1)
    else moveOnePerKey(request, now)
    if (request.size > sizeBefore) inFlight += 1
    changed(this)
  }

  /** From now on, something else than the shard holds up its records. */
  def endSleep(now: Long): Unit = {
    pastSleep = sleep(now)
    blockedSince = None
  }

  private def moveFirst(
      request: RequestRecords,
      isDue: Boolean,
      now: Long,
      maxRecords: Int
  ): Unit = {
    var moved = 0
    while (
      moved < maxRecords && hasNext(isDue) && request.fits(queue.head) && moveNext(request, now)
    ) moved += 1
  }

  /** Moves the next record, if the rate of the shard allows it. */
  private def moveNext(request: RequestRecords, now: Long): Boolean = {
    val isTaken = rate.take(queue.head.size, now)
    if (isTaken) request.add(queue.removeFirst())
    isTaken
  }

  /** Closes the aggregate only if the queue is empty: it grows while the shard is behind. */
  private def hasNext(isDue: Boolean): Boolean = {
    if (queue.isEmpty && isDue) open.flatMap(_.close()).foreach(queue.addLast)
    !queue.isEmpty
  }

  /** Kinesis keeps no order within a request, so only the first record per key is moved. */
  private def moveOnePerKey(request: RequestRecords, now: Long): Unit = {
    val keys = mutable.HashSet.empty[String]
    val skipped = new RecordQueue
    var isMore = true
    while (isMore && !queue.isEmpty && skipped.size < Lane.MaxSkipped && request.fits(queue.head))
      if (!keys.add(queue.head.entry.partitionKey)) skipped.addLast(queue.removeFirst())
      else isMore = moveNext(request, now)
    skipped.drain().reverseIterator.foreach(queue.addFirst)
  }

  /**
   * A request with records of this lane was answered, or failed.
   *
   * @param failed the lane's records that it must send again, in their order
   * @param isFailure whether any of its records must be sent again, if only by other lanes
   * @param isProgress whether Kinesis wrote some of the lane's records
   * @param sentAt when the request was sent
   * @param backoff milliseconds to pause after so many failures in a row
   */
  def requestEnded(
      failed: Seq[PendingRecord],
      isFailure: Boolean,
      isProgress: Boolean,
      sentAt: Long,
      now: Long,
      backoff: Int => Long
  ): Unit = {
    inFlight -= 1
    failed.reverseIterator.foreach { record =>
      queue.addFirst(record)
      noteFirstSent(record.failures)
    }
    if (!isFailure) failuresInARow = 0
    else if (sentAt >= failedAt) { // requests that were in flight together fail only once
      failuresInARow = if (isProgress) 1 else failuresInARow + 1
      failedAt = now
      pausedUntil = math.max(pausedUntil, now + backoff(failuresInARow))
    }
    unblock()
  }

  /** If order matters, the lane sends nothing until `release`. Calls may be nested. */
  def hold(): Unit = inFlight += 1

  def release(): Unit = {
    inFlight -= 1
    unblock()
  }

  /** Makes a Kinesis record of the open aggregate, to which no further record is added. */
  def closeAggregate(): Unit = {
    open.flatMap(_.close()).foreach(queue.addLast)
    changed(this)
  }

  /** Removes and returns all records, in order. */
  def drain(now: Long): Seq[PendingRecord] = {
    closeAggregate()
    val drained = queue.drain()
    endSleep(now)
    unblock()
    drained
  }

  /**
   * Removes the records that were sent for the first time before that time and are still here. If
   * there are any, and the shard has acknowledged nothing since, removes also those that arrived
   * before that time: the shard takes none of them.
   */
  def expire(before: Long, now: Long): Vector[PendingRecord] =
    if (firstSentAt > before) Vector.empty
    else {
      val waiting = queue.drain()
      val isDead =
        acknowledgedAt <= before && waiting.exists(_.failures.exists(_.sentAt <= before))
      val closed = open.filter(isDead && _.lastArrivedAt <= before).flatMap(_.close())
      val (expired, others) = (waiting ++ closed).partition { record =>
        record.failures.fold(isDead && record.lastArrivedAt <= before)(_.sentAt <= before)
      }
      firstSentAt = Lane.Never
      others.foreach(enqueue)
      if (isEmpty) endSleep(now)
      changed(this)
      expired
    }

  /** Adds a record that was in another lane before. */
  def enqueue(record: PendingRecord): Unit = {
    queue.addLast(record)
    noteFirstSent(record.failures)
    changed(this)
  }

  private def noteFirstSent(failures: Option[Failures]): Unit =
    failures.foreach(it => firstSentAt = math.min(firstSentAt, it.sentAt))
}

private[sink] object Lane {

  /** A time that never comes. */
  val Never: Long = Long.MaxValue

  private[lane] def backlogMillis(records: Long, bytes: Long): Long = math.max(
    records * 1000 / ServiceLimits.WriteRecordsPerSecond,
    bytes * 1000 / ServiceLimits.WriteBytesPerSecond
  )

  /** Limit of the search for a record whose key has no other record in the request. */
  private val MaxSkipped = 1000
}

/**
 * Where a lane stands among those that have records, and what it counts for there.
 *
 * @param turn differs from that of any other lane
 */
private[lane] final class LanePlace(var turn: Long, var lanes: TreeSet[Lane]) {

  /** The lane sends nothing before this time; zero if it may send. */
  var blockedUntil = 0L

  var time = 0L
  var nextTurn: Long = turn
  var records, bytes = 0L
}

/** Records in their order, and their size. */
private final class RecordQueue {
  private val records = new ArrayDeque[PendingRecord]
  private var bytesInQueue = 0L

  def isEmpty: Boolean = records.isEmpty
  def size: Int = records.size
  def bytes: Long = bytesInQueue

  /** The failures of the queued records that failed before. */
  def failures: Vector[Failures] = records.iterator.asScala.flatMap(_.failures).toVector

  /** The first record of a queue that is not empty. */
  def head: PendingRecord = records.peek

  def addLast(record: PendingRecord): Unit = {
    records.add(record)
    bytesInQueue += record.size
  }

  def addFirst(record: PendingRecord): Unit = {
    records.addFirst(record)
    bytesInQueue += record.size
  }

  /** Removes the first record of a queue that is not empty. */
  def removeFirst(): PendingRecord = {
    val record = records.poll()
    bytesInQueue -= record.size
    record
  }

  /** Removes all records. */
  def drain(): Vector[PendingRecord] = Vector.fill(size)(removeFirst())
}
