package sparkkinesis.source.store

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.model.StreamShard
import sparkkinesis.shard.FetchMemory

/**
 * Decides which shards may request a page, so that the store has room for it, and when pages go to
 * disk. The reasons are in docs/adr/0016-shared-memory.md and docs/adr/0017-page-store.md. Its
 * owner's lock guards it.
 *
 * When half of the capacity is used, each shard is limited to its fair share, so that a shard with
 * a backlog leaves room for others. Shards whose pages are larger than that take turns: the next
 * one is the shard whose last reservation is the oldest. Otherwise chance would decide, and it may
 * prefer one shard for long.
 *
 * Pages stay off the disk while batches are short. To write a page and read it again costs more
 * than to wait for the end of a short batch, whose pages leave the memory.
 */
private[store] final class Admission(
    memory: FetchMemory#Account,
    diskBytes: Long,
    spill: SpillSpace
) {
  import Admission._

  // Bytes, and since when; the oldest first. Without calls that hang.
  private val requested = mutable.LinkedHashMap.empty[StreamShard, (Long, Instant)]
  private var requestedBytes = 0L
  private val lastTurns = mutable.Map.empty[StreamShard, Long].withDefaultValue(0L)
  private val waiting = mutable.Map.empty[StreamShard, Long] // number of refusals at the last one
  private val queue = mutable.TreeSet.empty[(Long, StreamShard)] // those that wait, by last turn
  private var turn = 0L
  private var refusals = 0L
  private var inMemory = 0L
  private var onDisk = 0L // and of pages that are being written
  private var fullSince = Option.empty[Instant]
  private var wasFullForLong = false
  private var hasDropped = false
  private var lacksRoom = false

  def bytes: Long = inMemory

  def spilledBytes: Long = onDisk

  /** Whether a page has had to wait for room since pages were last dropped. */
  def isFull: Boolean = lacksRoom

  /** Whether new pages go to disk. */
  def isSpilling: Boolean = isDiskOpen && inMemory > pagesPart(memory.bytes)

  def hasDiskRoom(bytes: Long): Boolean = onDisk + bytes <= memory.share(diskBytes)

  private def isDiskOpen = hasDisk && wasFullForLong

  private def hasDisk = spill.isOpen && diskBytes > 0

  /** The pages now take more bytes, or fewer, in memory and on disk. */
  def hold(memoryChange: Long, diskChange: Long): Unit = {
    inMemory += memoryChange
    onDisk += diskChange
    memory.hold(memoryChange)
  }

  /**
   * See [[PageStore.reserve]].
   *
   * @param ofShard bytes of its pages in memory and on disk
   */
  def reserve(
      shard: StreamShard,
      ofShard: Long,
      estimate: Long,
      shards: Int,
      now: Instant,
      isAwaited: => Boolean
  ): Boolean = {
    afterDrop(now)
    val part = memory.bytes
    val reserved = reservedBytes(now)
    val arriving = inMemory + reserved + estimate // before any of it goes to disk
    if (arriving > pagesPart(part)) full(now)
    val total = arriving + onDisk
    val most = capacity(part)
    val isFirst = total == estimate // an empty store accepts a page of any size
    val isShare = ofShard + estimate <= most / math.max(1, shards)
    // Otherwise the backlog of one shard would fill the store, and the records of the others would
    // wait in Kinesis.
    val isFair = isFirst || total <= most / 2 || ofShard == 0 || isShare
    val fits = total <= most && inMemory < part
    // Otherwise pages on their way to the disk would exceed the memory. One page alone may.
    val canArrive = reserved == 0 || arriving <= part
    val hasRoom = isFair && isNext(shard, isShare) && (isFirst || fits && canArrive)
    if (!hasRoom) refuse(shard, isFair, fits, now)
    val isGranted = hasRoom || ofShard == 0 && isAwaited
    if (isGranted) grant(shard, estimate, now)
    isGranted
  }

  /** Bytes of memory that a page would take beyond the limit; negative if it would fit. */
  def missing(estimate: Long, now: Instant): Long =
    inMemory + reservedBytes(now) + estimate - memory.bytes

  /**
   * Whether a page beyond the limit would find no memory when it arrives.
   *
   * @param wasRefused whether the last one found none
   */
  def isOverfull(estimate: Long, now: Instant, wasRefused: Boolean): Boolean =
    missing(estimate, now) > (if (wasRefused) 0 else FetchMemory.SpareBytes / 2)

  /** Calls that hang do not count any more: they must not hold up other shards. */
  private def reservedBytes(now: Instant): Long = {
    val hanging = now.minusMillis(HangTime.toMillis)
    while (requested.headOption.exists(_._2._2.isBefore(hanging))) release(requested.head._1)
    requestedBytes
  }

  /**
   * Bytes that the store may hold. Before the disk is open, an eighth of the memory stays free:
   * otherwise there would be no room for a page on its way to the disk.
   */
  private def capacity(part: Long): Long =
    if (isDiskOpen) part + memory.share(diskBytes)
    else if (hasDisk) part / 8 * 7 + onDisk
    else part + onDisk

  /**
   * Whether no shard waits whose last turn is older. A small page waits only for a shard that has
   * waited for long.
   */
  private def isNext(shard: StreamShard, isSmall: Boolean): Boolean = {
    // A shard that waits may ask no more, for example once after `forget`.
    def isAsking(it: StreamShard) = refusals - waiting(it) <= Rounds * waiting.size
    // The first one decides for all: thousands may wait, and each asks again and again.
    queue.iterator.find(it => isAsking(it._2)).forall { case (first, _) =>
      first >= lastTurns(shard) || isSmall && turn - first < Patience
    }
  }

  private def grant(shard: StreamShard, estimate: Long, now: Instant): Unit = {
    release(shard)
    requested.update(shard, (estimate, now))
    requestedBytes += estimate
    leave(shard)
    turn += 1
    lastTurns.update(shard, turn)
  }

  private def refuse(shard: StreamShard, isFair: Boolean, fits: Boolean, now: Instant): Unit = {
    if (isFair) await(shard) else leave(shard)
    if (!fits || !isFair) {
      lacksRoom = true
      // A shard that has its share of the memory needs the disk, too.
      full(now)
    }
  }

  private def await(shard: StreamShard): Unit = {
    refusals += 1
    waiting.update(shard, refusals)
    queue += lastTurns(shard) -> shard: Unit
  }

  private def leave(shard: StreamShard): Unit =
    if (waiting.remove(shard).nonEmpty) queue -= lastTurns(shard) -> shard: Unit

  /** Memory has no room for a page. */
  private def full(now: Instant): Unit = {
    val since = fullSince.getOrElse(now)
    fullSince = Some(since)
    if (!wasFullForLong && isLong(since, now)) {
      wasFullForLong = true
      lacksRoom = false
    }
  }

  def dropped(): Unit = {
    hasDropped = true
    lacksRoom = false
  }

  /** If memory was full for a short time only, the next page waits again. */
  private def afterDrop(now: Instant): Unit = if (hasDropped) {
    hasDropped = false
    fullSince.foreach(since => wasFullForLong = isLong(since, now))
    fullSince = None
  }

  def release(shard: StreamShard): Unit =
    requested.remove(shard).foreach { case (bytes, _) => requestedBytes -= bytes }

  /** See [[PageStore.next]]. */
  def next(isAsking: StreamShard => Boolean): Vector[StreamShard] =
    queue.iterator.map(_._2).filter(isAsking).take(WokenAtOnce).toVector

  def forget(shard: StreamShard): Unit = {
    leave(shard)
    lastTurns -= shard: Unit
  }
}

private object Admission {

  /** Time after which a call hangs. Most calls take far less. */
  private val HangTime = 3.seconds

  /**
   * The time that memory must be full before pages go to disk. Most batches of a query without a
   * trigger interval are shorter. A shard's quota saves one second of the pause.
   */
  private val FullTime = 2.seconds

  /** Waiting shards ask at equal intervals: each asks once while all others do. */
  private val Rounds = 4L

  /** Number of turns of others, after which small pages, too, wait for a shard. */
  private val Patience = 64L

  /**
   * Shards to wake at once: one instead of the shard that released its room, and one in case that
   * there is room for more.
   */
  private val WokenAtOnce = 2

  /** The part of the memory for pages. The rest is for pages that were requested. */
  private def pagesPart(memory: Long): Long = memory / 4 * 3

  private def isLong(since: Instant, now: Instant) =
    !now.isBefore(since.plusMillis(FullTime.toMillis))
}
