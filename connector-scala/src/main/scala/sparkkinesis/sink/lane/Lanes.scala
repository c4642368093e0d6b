package sparkkinesis.sink.lane

import scala.collection.mutable

import sparkkinesis.client.{KinesisException, PutResult}
import sparkkinesis.model.{PutEntry, ShardMap}
import sparkkinesis.sink.rate.{ShardRefresh, TargetStream}
import sparkkinesis.sink.write.{DeliveryDeadline, PutAnswers}
import sparkkinesis.sink.{ShardSleep, SinkCounters, SinkOptions}

/**
 * What a writer has for one stream, in a lane for each shard: which records make the next request,
 * and when. No thread and no clock: its owner says what time it is, in milliseconds, sends the
 * requests, and tells what came of them.
 *
 * With `isOrdered` the records of one key are written in the order they came, some perhaps twice:
 * nothing of a lane is sent while an answer for it is to come, and what failed goes first. Lanes
 * change to other shards only between requests.
 *
 * @param chance evenly distributed in `[0, 1)`
 * @param start now
 */
private[sink] final class Lanes(
    val stream: TargetStream,
    limits: RequestLimits,
    options: SinkOptions,
    chance: () => Double,
    counters: SinkCounters,
    start: Long
) {
  import Lanes._

  private val lanes = new LaneSet(stream, options, start)
  private val shardLook = new ShardRefresh(chance)
  private val answers = new PutAnswers(stream.ref, lanes, shardLook, chance, counters)
  private val deadline = new DeliveryDeadline(stream.ref, options.deliveryTimeout, counters)
  private var listed = Option.empty[ShardMap]
  private val inFlight = mutable.Set.empty[Request]
  private var turn = 0

  // Until then no request can be full.
  private var recordsToGo = 0L
  private var bytesToGo = 0L

  /** Takes a record; `hi` and `lo` are the hash key that chooses its shard. */
  def add(entry: PutEntry, hi: Long, lo: Long, now: Long): Unit = {
    val size = EntrySize.of(entry)
    counters.taken(size)
    lanes.add(entry, hi, lo, now)
    recordsToGo -= 1
    bytesToGo -= size
  }

  /** No other request goes for now: a look is worth it once there may be a full one more. */
  def awaitFull(): Unit = {
    recordsToGo = limits.records.toLong
    bytesToGo = limits.bytes
  }

  /** Whether so much has come since `next` was last asked that a request may be full. */
  def isWorthALook: Boolean = recordsToGo <= 0 || bytesToGo <= 0

  /**
   * What to do now: to be asked after each change, and again when the wait is over.
   *
   * @param isPressed whether records go at once, alone if need be: their owner waits for them
   * @throws DeliveryTimeoutException where a record has been tried for too long
   */
  def next(now: Long, isPressed: Boolean): Next = {
    deadline.require(lanes.all, answers.oldestMisplaced, now)
    val isChanging = listed.isDefined && options.isOrdered && inFlight.nonEmpty
    if (!isChanging) listed.foreach(change(_, now))
    if (isChanging) Next.Wait(Lane.Never) else scan(now, isPressed)
  }

  private def scan(now: Long, isPressed: Boolean): Next = {
    var (wake, records, bytes, isDue) = (Lane.Never, 0L, 0L, false)
    lanes.all.foreach { lane =>
      if (!lane.isEmpty) {
        val ready = lane.readyAt(now)
        val due = dueAt(lane, isPressed, now)
        if (ready <= now) {
          records += lane.size
          bytes += lane.bytes
          isDue ||= due <= now
        } else if (due <= now && ready < Lane.Never) lane.block(now)
        wake = math.min(wake, math.max(ready, due))
        lane.trouble.foreach(it => wake = math.min(wake, deadline.of(it)))
      }
    }
    recordsToGo = limits.records - records // or a few more, so that not every record is a look
    if (recordsToGo > 0) recordsToGo = math.max(recordsToGo, limits.records / FewOfMany)
    bytesToGo = limits.bytes - bytes
    val request = if (isDue || isWorthALook) gather(now, isPressed) else None
    request.fold[Next] {
      Next.Wait(math.max(wake, now + 1)) // another task was quicker to take what a shard allowed
    } { it =>
      sent(it)
      Next.Send(it)
    }
  }

  /** Lanes in turn, so that none is first each time. */
  private def gather(now: Long, isPressed: Boolean): Option[Request] = {
    val request = new Request.Gathering(limits)
    val all = lanes.all
    val first = turn % all.size
    var i = 0
    while (i < all.size && !request.isFull) {
      val lane = all((first + i) % all.size)
      if (!lane.isEmpty && lane.readyAt(now) <= now)
        lane.give(request, dueAt(lane, isPressed, now) <= now, now)
      i += 1
    }
    turn = first + math.max(1, i - 1) // who had no room for all goes first
    if (request.size == 0) None else Some(request.result(now))
  }

  private def sent(request: Request): Unit = {
    recordsToGo = 0
    inFlight += request
    counters.sent(request.records.length)
  }

  private def dueAt(lane: Lane, isPressed: Boolean, now: Long): Long =
    if (isPressed) now else lane.since + options.linger.toMillis

  /**
   * The service answered.
   *
   * @throws KinesisException where it refused a record for good
   */
  def answered(request: Request, results: Seq[PutResult], now: Long): Unit =
    if (finished(request, now)) answers.answered(request, results, now)

  /**
   * The call failed as a whole, perhaps after it took effect.
   *
   * @throws KinesisException the same, where waiting does not mend it
   */
  def failed(request: Request, e: KinesisException, now: Long): Unit =
    if (finished(request, now)) answers.failed(request, e, now)

  /** No answer is awaited any more, and none that comes counts. */
  def abandon(now: Long): Unit = {
    inFlight.foreach(answers.abandoned(_, now))
    inFlight.clear()
  }

  /** Whether its answer was awaited. */
  private def finished(request: Request, now: Long): Boolean = {
    val isAwaited = inFlight.remove(request)
    if (isAwaited) {
      recordsToGo = 0
      counters.finished(now - request.sentAt)
    }
    isAwaited
  }

  /** The stream's shards, as they are known here. */
  def shards: ShardMap = lanes.shards

  /** Whether they should be listed anew. */
  def wantsShards(now: Long): Boolean = listed.isEmpty && shardLook.isDue(now)

  /** They were listed. */
  def learn(shards: ShardMap, now: Long): Unit =
    if (shards eq lanes.shards) shardLook.foundNothing(isAnswer = !answers.areAwaited, now)
    else {
      shardLook.found(now)
      listed = Some(shards)
    }

  /** They could not be listed; another attempt follows. */
  def learnedNothing(now: Long): Unit = shardLook.foundNothing(isAnswer = false, now)

  private def change(shards: ShardMap, now: Long): Unit = {
    listed = None
    lanes.change(shards, now)
    answers.lanesChanged()
  }

  /** Of the shard that records waited for longest. */
  def sleep(now: Long): Option[ShardSleep] = lanes.sleep(now)
}

private[sink] object Lanes {

  /** What to do now. */
  sealed trait Next

  object Next {
    final case class Send(request: Request) extends Next

    /** @param until by itself nothing changes before; `Lane.Never` while there is nothing */
    final case class Wait(until: Long) extends Next
  }

  private val FewOfMany = 16L
}
