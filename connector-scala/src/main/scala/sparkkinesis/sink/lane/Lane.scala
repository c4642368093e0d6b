package sparkkinesis.sink.lane

import scala.collection.mutable

import sparkkinesis.model.{PutEntry, ShardId}
import sparkkinesis.sink.metrics.{KeyVotes, ShardTraffic}
import sparkkinesis.sink.rate.{RecordSum, ShardRate}

/**
 * The records of one shard, as predicted from their hash keys, in the order in which they arrived.
 *
 * @param rate shared with all tasks of the executor that write to the shard
 * @param open the aggregate that records go into; none without aggregation
 * @param isOrdered whether at most one request at a time has records of the lane, and that request
 *   at most one record per partition key
 * @param createdAt in milliseconds
 */
private[sink] final class Lane(
    val shard: ShardId,
    val rate: ShardRate,
    open: Option[OpenAggregate],
    isOrdered: Boolean,
    createdAt: Long
) {
  private val queue = new RecordQueue
  private var inFlight = 0
  private var pausedUntil = 0L
  private var failuresInARow = 0
  private var failedAt = Long.MinValue
  private var blockedSince = Option.empty[Long]
  private var pastSleep = 0L
  private val votes = new KeyVotes.Counter
  private var writtenRecords, writtenBytes = 0L
  private var acknowledgedAt = createdAt

  private var firstSentAt = Lane.Never

  def isEmpty: Boolean = queue.isEmpty && open.forall(_.isEmpty)

  /** Number of Kinesis records that wait for a request. */
  def queuedRecords: Int = queue.size

  /** Bytes of those records. */
  def queuedBytes: Long = queue.bytes

  /** When the oldest record arrived; `Never` if there is none. */
  def oldestArrival: Long =
    if (queue.isEmpty) open.fold(Lane.Never)(_.arrivedAt) else queue.head.arrivedAt

  /** Kinesis acknowledged some of its records, wherever it wrote them. */
  def acknowledged(now: Long): Unit = acknowledgedAt = now

  /** Kinesis wrote these records to the shard. */
  def written(records: RecordSum): Unit = {
    writtenRecords += records.records
    writtenBytes += records.bytes
  }

  /** @param shards number of open shards of the stream */
  def traffic(stream: String, shards: Int, now: Long): ShardTraffic = ShardTraffic(
    stream,
    shard.toString,
    shards,
    writtenRecords,
    writtenBytes,
    sleep(now),
    now - createdAt,
    votes.result
  )

  /** Milliseconds in total that records were ready to be sent and the shard could not take them. */
  private def sleep(now: Long): Long = pastSleep + blockedSince.fold(0L)(now - _)

  /**
   * A time before which no waiting record was sent for the first time; `Never` if none was sent.
   */
  def firstSent: Long = firstSentAt

  /** The failures of the record that was sent first, if that was at this time or before. */
  def oldestFailure(before: Long): Option[Failures] =
    if (firstSentAt > before) None
    else {
      val failed = queue.failures ++ open.flatMap(_.failed)
      firstSentAt = failed.map(_.sentAt).foldLeft(Lane.Never)(math.min)
      failed.find(it => it.sentAt == firstSentAt && it.sentAt <= before)
    }

  def add(
      entry: PutEntry,
      hashHi: Long,
      hashLo: Long,
      arrivedAt: Long,
      failure: Option[Failures]
  ): Unit = {
    votes.add(hashHi, hashLo)
    noteFirstSent(failure)
    open match {
      case Some(aggregate) =>
        aggregate.add(entry, hashHi, hashLo, arrivedAt, failure).foreach(queue.addLast)
      case None =>
        val record =
          new PendingRecord(entry, hashHi, hashLo, 1, EntrySize.of(entry), arrivedAt, arrivedAt)
        record.failures = failure
        queue.addLast(record)
    }
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

  /** Records are due, and the shard cannot take them yet. */
  def block(now: Long): Unit = if (blockedSince.isEmpty) blockedSince = Some(now)

  /** From now on, something else than the shard holds up its records. */
  def unblock(now: Long): Unit = {
    pastSleep = sleep(now)
    blockedSince = None
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
    if (request.size > sizeBefore) {
      inFlight += 1
      unblock(now)
    }
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
   * @param failed the lane's records that must be sent again, in their order
   * @param isProgress whether Kinesis wrote some of the lane's records
   * @param sentAt when the request was sent
   * @param backoff milliseconds to pause after so many failures in a row
   */
  def requestEnded(
      failed: Seq[PendingRecord],
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
    if (failed.isEmpty) failuresInARow = 0
    else if (sentAt >= failedAt) { // requests that were in flight together fail only once
      failuresInARow = if (isProgress) 1 else failuresInARow + 1
      failedAt = now
      pausedUntil = math.max(pausedUntil, now + backoff(failuresInARow))
    }
  }

  /** If order matters, the lane sends nothing until `release`. Calls may be nested. */
  def hold(): Unit = inFlight += 1

  def release(): Unit = inFlight -= 1

  /** Removes and returns all records, in order. */
  def drain(): Seq[PendingRecord] = {
    open.flatMap(_.close()).foreach(queue.addLast)
    queue.drain()
  }

  /**
   * Removes the records that were sent for the first time before that time and are still here. If
   * there are any, and the shard has acknowledged nothing since, removes also those that arrived
   * before that time: the shard takes none of them.
   */
  def expire(before: Long): Vector[PendingRecord] =
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
      expired
    }

  /** Adds a record that was in another lane before. */
  def enqueue(record: PendingRecord): Unit = {
    queue.addLast(record)
    noteFirstSent(record.failures)
  }

  private def noteFirstSent(failures: Option[Failures]): Unit =
    failures.foreach(it => firstSentAt = math.min(firstSentAt, it.sentAt))
}

private[sink] object Lane {

  /** A time that never comes. */
  val Never: Long = Long.MaxValue

  /** Limit of the search for a record whose key has no other record in the request. */
  private val MaxSkipped = 1000
}
