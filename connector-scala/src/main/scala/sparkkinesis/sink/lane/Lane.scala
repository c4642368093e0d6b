package sparkkinesis.sink.lane

import java.util.ArrayDeque

import scala.collection.mutable

import sparkkinesis.model.{PutEntry, ShardId}
import sparkkinesis.sink.rate.ShardRate
import sparkkinesis.sink.rate.ShardRate.Taken

/**
 * The records of one shard, as far as can be told beforehand, in the order they came.
 *
 * @param rate shared with all who write to the shard
 * @param open where records are gathered into aggregates
 * @param isOrdered whether one request at a time has records of it, and in that no two of one key
 */
private[sink] final class Lane(
    val shard: ShardId,
    val rate: ShardRate,
    open: Option[OpenAggregate],
    isOrdered: Boolean
) {
  private val queue = new ArrayDeque[PendingRecord]
  private var queuedBytes = 0L
  private var inFlight = 0
  private var heldUntil = 0L
  private var failuresInARow = 0
  private var failedAt = Long.MinValue
  private var blockedAt = Option.empty[Long]
  private var slept = 0L

  def isEmpty: Boolean = queue.isEmpty && open.forall(_.isEmpty)

  /** Records that wait for a request. */
  def size: Int = queue.size

  /** Of those. */
  def bytes: Long = queuedBytes

  /** When the oldest record came, if there is one. */
  def since: Long = if (queue.isEmpty) open.fold(Lane.Never)(_.since) else queue.peek.since

  /** Milliseconds in all that records were ready and the shard was not. */
  def sleep(now: Long): Long = slept + blockedAt.fold(0L)(now - _)

  /** Of the record that goes next, if it was sent before. */
  def trouble: Option[Trouble] = if (queue.isEmpty) None else queue.peek.trouble

  def add(entry: PutEntry, hi: Long, lo: Long, now: Long, before: Option[Trouble]): Unit =
    open match {
      case Some(aggregate) => aggregate.add(entry, hi, lo, now, before).foreach(enqueue)
      case None =>
        val record = new PendingRecord(entry, hi, lo, 1, EntrySize.of(entry), now)
        record.trouble = before
        enqueue(record)
    }

  /** From when on some of it may be sent; `Never` while an answer must come first. */
  def readyAt(now: Long): Long =
    if (isOrdered && inFlight > 0) Lane.Never
    else {
      val allowed =
        if (!queue.isEmpty) rate.readyAt(queue.size, queuedBytes, queue.peek.size, now)
        else rate.readyAt(1, 0, open.fold(0)(_.size), now)
      math.max(allowed, heldUntil)
    }

  /** Records would go, and may not yet. */
  def block(now: Long): Unit = if (blockedAt.isEmpty) blockedAt = Some(now)

  /**
   * Gives what may go to a request with room.
   *
   * @param isDue whether an aggregate is sent though it has room
   */
  def give(to: Request.Gathering, isDue: Boolean, now: Long): Unit = {
    val from = to.size
    val isProbe =
      if (!isOrdered) giveFirst(to, isDue, now, Int.MaxValue)
      else if (open.isDefined) giveFirst(to, isDue, now, 1)
      else giveOneOfEachKey(to, now)
    if (to.size > from) {
      to.endPart(this, from, isProbe)
      inFlight += 1
      slept = sleep(now)
      blockedAt = None
    }
  }

  /** @return whether some go beyond the quota */
  private def giveFirst(
      to: Request.Gathering,
      isDue: Boolean,
      now: Long,
      most: Int
  ): Boolean = {
    var (sent, isProbe, isMore) = (0, false, true)
    while (isMore && sent < most && hasNext(isDue) && to.fits(queue.peek))
      giveNext(to, now) match {
        case Taken.Nothing => isMore = false
        case taken =>
          isProbe = isProbe || taken == Taken.Beyond
          sent += 1
      }
    isProbe
  }

  /** The first record, if the shard's rate allows it. */
  private def giveNext(to: Request.Gathering, now: Long): Taken = {
    val taken = rate.take(queue.peek.size, now)
    if (taken != Taken.Nothing) to.add(dequeue())
    taken
  }

  /** An aggregate is closed when nothing else is left: it grows while the shard is behind. */
  private def hasNext(isDue: Boolean): Boolean = {
    if (queue.isEmpty && isDue) open.flatMap(_.close()).foreach(enqueue)
    !queue.isEmpty
  }

  /** Kinesis keeps no order within a request: of each key only the first record goes. */
  private def giveOneOfEachKey(to: Request.Gathering, now: Long): Boolean = {
    val keys = mutable.HashSet.empty[String]
    val kept = new ArrayDeque[PendingRecord]
    var (isProbe, isMore) = (false, true)
    while (isMore && !queue.isEmpty && kept.size < Lane.LookAhead && to.fits(queue.peek))
      if (!keys.add(queue.peek.entry.partitionKey)) kept.add(dequeue())
      else
        giveNext(to, now) match {
          case Taken.Nothing => isMore = false
          case taken => isProbe = isProbe || taken == Taken.Beyond
        }
    while (!kept.isEmpty) enqueueFirst(kept.pollLast())
    isProbe
  }

  /**
   * A request was answered, or not.
   *
   * @param again the lane's records in it that must be sent again, in their order
   * @param isProgress whether some were written
   * @param sentAt when it was sent
   * @param pause of so many failures in a row, in milliseconds
   */
  def returned(
      again: Seq[PendingRecord],
      isProgress: Boolean,
      sentAt: Long,
      now: Long,
      pause: Int => Long
  ): Unit = {
    inFlight -= 1
    again.reverseIterator.foreach(enqueueFirst)
    if (again.isEmpty) failuresInARow = 0
    else if (sentAt >= failedAt) { // what was in flight with a failure is the same one
      failuresInARow = if (isProgress) 1 else failuresInARow + 1
      failedAt = now
      heldUntil = math.max(heldUntil, now + pause(failuresInARow))
    }
  }

  /** With order, nothing more is sent until it is released: more was sent than is settled. */
  def hold(): Unit = inFlight += 1

  def release(): Unit = inFlight -= 1

  /** All that it has, in order; it stays empty. */
  def drain(): Seq[PendingRecord] = {
    open.flatMap(_.close()).foreach(enqueue)
    Iterator.continually(dequeue()).take(queue.size).toVector
  }

  def enqueue(record: PendingRecord): Unit = {
    queue.add(record)
    queuedBytes += record.size
  }

  private def enqueueFirst(record: PendingRecord): Unit = {
    queue.addFirst(record)
    queuedBytes += record.size
  }

  private def dequeue(): PendingRecord = {
    val record = queue.poll()
    queuedBytes -= record.size
    record
  }
}

private[sink] object Lane {
  val Never: Long = Long.MaxValue

  /** So many records of keys that wait are passed over at most, in search of others. */
  private val LookAhead = 1000
}
