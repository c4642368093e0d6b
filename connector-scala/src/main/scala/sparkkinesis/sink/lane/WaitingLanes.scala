package sparkkinesis.sink.lane

import java.util.{Comparator, TreeSet}

import scala.annotation.tailrec
import scala.collection.immutable.ArraySeq

import sparkkinesis.model.{PutEntry, ShardId}

/**
 * The lanes of a stream that have records: those whose shard may take some, by the arrival of their
 * oldest record, and those that wait for their shard, by time. So the work for a request does not
 * depend on the number of shards.
 *
 * A lane that may send is looked at again before it sends: other tasks of the executor may have
 * used up what its shard allows.
 *
 * @param linger milliseconds after which a record is due, even if it is sent alone
 */
private[sink] final class WaitingLanes(linger: Long) {
  import WaitingLanes._

  private val ready, blocked = new TreeSet[Lane](ByTime)
  private val filling = new TreeSet[Lane](ByTime) // with an open aggregate, and nothing else
  private val nowhere = new TreeSet[Lane](ByTime) // stays empty
  private var turns = 0L
  private var readyRecords, readyBytes = 0L
  private var allRecords, allBytes = 0L
  private var looks = 0L

  /** A time before which no waiting record was sent; `Never` if none was sent. */
  var firstSent: Long = Lane.Never

  /** Number of times that a lane was asked whether its shard takes records. */
  def looksAtLanes: Long = looks

  private[lane] def newPlace(): LanePlace = {
    turns += 1
    new LanePlace(turns, nowhere)
  }

  /** The lane's records have changed, or the time until which it waits. */
  private[lane] def update(lane: Lane): Unit = {
    firstSent = math.min(firstSent, lane.firstSent)
    val place = lane.place
    val lanes =
      if (lane.isEmpty || place.blockedUntil == Lane.Never) nowhere
      else if (place.blockedUntil > 0) blocked
      else if (lane.queuedRecords > 0) ready
      else filling
    val time = if (lanes eq blocked) place.blockedUntil else lane.oldestArrival
    val wasReady = place.lanes eq ready
    if ((lanes ne place.lanes) || time != place.time || place.turn != place.nextTurn) {
      place.lanes.remove(lane)
      place.lanes = lanes
      place.time = time
      place.turn = place.nextTurn
      if (lanes ne nowhere) lanes.add(lane)
    }
    if (wasReady) countReady(-place.records, -place.bytes)
    allRecords += lane.queuedRecords - place.records
    allBytes += lane.queuedBytes - place.bytes
    place.records = lane.queuedRecords
    place.bytes = lane.queuedBytes
    if (lanes eq ready) countReady(place.records, place.bytes)
  }

  private def countReady(records: Long, bytes: Long): Unit = {
    readyRecords += records
    readyBytes += bytes
  }

  /** The sum of [[Lane.backlogMillis]] of all lanes. */
  def backlogMillis: Long = Lane.backlogMillis(allRecords, allBytes)

  /** Whether the lanes that may send have enough records for a full request. */
  def mayFill(limits: RequestLimits): Boolean =
    readyRecords >= limits.records || readyBytes >= limits.bytes

  /**
   * Whether there is a request to send: with a record that is due, or a full one.
   *
   * @param isUrgent whether every record is due
   */
  def hasRequest(limits: RequestLimits, isUrgent: Boolean, now: Long): Boolean = {
    val arrivedBy = dueBy(isUrgent, now)
    wake(now)
    isDue(ready, arrivedBy, now) || isDue(filling, arrivedBy, now) || isFull(limits, arrivedBy, now)
  }

  /** Records that arrived by this time are due. */
  private def dueBy(isUrgent: Boolean, now: Long) = if (isUrgent) now else now - linger

  /** Like `mayFill`, after a look at the lanes that would fill the request. */
  private def isFull(limits: RequestLimits, arrivedBy: Long, now: Long): Boolean = {
    var (records, bytes) = (0L, 0L)
    var last = Option.empty[Lane]
    while (mayFill(limits) && records < limits.records && bytes < limits.bytes) {
      val lane = last.fold(ready.first)(ready.higher(_)) // some lane is left
      if (isReady(lane, arrivedBy, now)) {
        records += lane.queuedRecords
        bytes += lane.queuedBytes
        last = Some(lane)
      }
    }
    mayFill(limits)
  }

  /** Whether a lane may send a record that arrived by then. */
  private def isDue(lanes: TreeSet[Lane], arrivedBy: Long, now: Long): Boolean = {
    var isFound = false
    while (!isFound && !lanes.isEmpty && lanes.first.place.time <= arrivedBy)
      isFound = isReady(lanes.first, arrivedBy, now)
    isFound
  }

  /** Nothing changes by itself before this time; `Never` without such a time. */
  def nextAt(isUrgent: Boolean): Long = {
    val wait = if (isUrgent) 0 else linger
    def first(lanes: TreeSet[Lane], after: Long) =
      if (lanes.isEmpty) Lane.Never else lanes.first.place.time + after
    math.min(first(blocked, 0), math.min(first(ready, wait), first(filling, wait)))
  }

  /**
   * Takes that request from the lanes, those with the oldest records first. Lanes with equally old
   * records take turns.
   */
  def take(limits: RequestLimits, isUrgent: Boolean, now: Long): Option[Request] = {
    val arrivedBy = dueBy(isUrgent, now)
    val records = new RequestRecords(limits)
    val parts = Vector.newBuilder[Request.Part]
    def takeFrom(lane: Lane): Unit = if (isReady(lane, arrivedBy, now)) {
      val from = records.size
      turns += 1
      lane.place.nextTurn = turns
      lane.moveTo(records, lane.oldestArrival <= arrivedBy, now)
      if (records.size > from) parts += Request.Part(lane, from, records.size)
      val hasMore = lane.queuedRecords > 0 || lane.oldestArrival <= arrivedBy
      if (hasMore && isReady(lane, arrivedBy, now) && !records.isFull)
        block(lane, now + 1, arrivedBy, now) // another task was faster
    }
    @tailrec
    def fill(next: Option[Lane]): Unit = if (next.nonEmpty && !records.isFull) {
      next.foreach(takeFrom)
      fill(oldest(arrivedBy))
    }
    fill(oldest(arrivedBy))
    if (records.size == 0) None else Some(new Request(parts.result(), records.toArray, now))
  }

  /**
   * The lane to take from next. A due aggregate does not wait for full ones that are younger:
   * otherwise it would wait as long as there are enough of these.
   */
  private def oldest(arrivedBy: Long): Option[Lane] = {
    def first(lanes: TreeSet[Lane]) = if (lanes.isEmpty) None else Some(lanes.first)
    val due = first(filling).filter(_.place.time <= arrivedBy)
    (first(ready) ++ due).reduceOption((a, b) => if (ByTime.compare(b, a) < 0) b else a)
  }

  /**
   * Whether the shard takes records of the lane now. If not, the lane waits until it does, or for a
   * short time: the rate of the shard may rise meanwhile.
   */
  private def isReady(lane: Lane, arrivedBy: Long, now: Long): Boolean = {
    looks += 1
    val readyAt = lane.readyAt(now)
    val until = if (readyAt == Lane.Never) Lane.Never else math.min(readyAt, now + MostWait)
    if (readyAt > now) block(lane, until, arrivedBy, now) else lane.endSleep(now)
    readyAt <= now
  }

  private def block(lane: Lane, until: Long, arrivedBy: Long, now: Long): Unit =
    lane.block(until, dueAt = math.max(now, lane.oldestArrival + (now - arrivedBy)))

  private def wake(now: Long): Unit =
    while (!blocked.isEmpty && blocked.first.place.time <= now) blocked.first.unblock()
}

private object WaitingLanes {

  /** Milliseconds. */
  private val MostWait = 200L

  private val ByTime: Comparator[Lane] = (a, b) => {
    val times = java.lang.Long.compare(a.place.time, b.place.time)
    if (times != 0) times else java.lang.Long.compare(a.place.turn, b.place.turn)
  }
}

/**
 * A `PutRecords` request: some records of each of several lanes.
 *
 * @param sentAt in milliseconds
 */
private[sink] final class Request(
    val parts: Vector[Request.Part],
    val records: Array[PendingRecord],
    val sentAt: Long
) {

  /** The entries of the service call. */
  def entries: IndexedSeq[PutEntry] = ArraySeq.unsafeWrapArray(records.map(_.entry))

  private var size = 0L
  private var first = sentAt
  records.foreach { record =>
    size += record.size
    record.failures.foreach(it => first = math.min(first, it.sentAt))
  }

  /** Bytes of data and partition keys. */
  def bytes: Long = size

  /** When the first of its records was sent: now, or earlier. */
  def firstSentAt: Long = first

  /** The record that was sent first, with its shard. */
  def oldest: (ShardId, Failures) = parts.iterator
    .flatMap { part =>
      val failures = Iterator.range(part.from, part.until).flatMap(records(_).failures)
      failures.map(part.lane.shard -> _)
    }
    .reduceOption((a, b) => if (b._2.sentAt < a._2.sentAt) b else a)
    .getOrElse {
      parts.head.lane.shard -> Failures(sentAt, Request.NoAnswer, None, mayBeWritten = true)
    }
}

private[sink] object Request {
  private val NoAnswer = "Kinesis has not answered the request."

  /** The records of one lane: those from index `from` (inclusive) to `until` (exclusive). */
  final case class Part(lane: Lane, from: Int, until: Int)
}
