package sparkkinesis.source.store

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.StreamShard
import sparkkinesis.source.memory.{FetchMemory, ShardTurns}

/**
 * Decides which shards may request a page, so that the store has room for it. Its owner's lock
 * guards it.
 *
 * When half of the capacity is used, each shard is limited to its fair share, so that a shard with
 * a backlog leaves room for others. Shards whose pages are larger than that take turns. The reasons
 * are in docs/adr/0016-shared-memory.md.
 *
 * @param memory limits pages in memory and reserved bytes together
 * @param diskBytes for the pages of all queries on disk
 * @param patience the time that memory must be full before pages go to disk
 */
private[store] final class Admission(
    memory: FetchMemory#Account,
    diskBytes: Long,
    spill: SpillSpace,
    patience: FiniteDuration
) {
  private val reservations = new Reservations
  private val turns = new ShardTurns
  private val delay = new SpillDelay(patience)
  private var lacksRoom = false

  /** Whether pages may go to disk. */
  def isDiskOpen: Boolean = hasDisk && delay.isOpen

  private def hasDisk: Boolean = spill.isOpen && diskBytes > 0

  /**
   * @param estimate bytes that the page is expected to have
   * @param shards number of shards that share the store
   * @param now of a clock that never jumps
   */
  def reserve(
      shard: StreamShard,
      estimate: Long,
      shards: Int,
      held: Admission.Held,
      now: Instant
  ): Boolean = {
    delay.afterDrop(now)
    val part = memory.bytes
    val wanted = Admission.Wanted(estimate, reservations.bytes(now), shards, held)
    if (wanted.inMemory > Admission.pagesPart(part)) full(now)
    val most = capacity(held, part)
    val fair = isFair(wanted, most)
    val fits = wanted.total <= most && held.inMemory < part
    val isNext = fair && turns.isNext(shard, wanted.isShare(most))
    val hasRoom = isNext && (wanted.isFirst || fits && canArrive(wanted, part))
    if (hasRoom) grant(shard, estimate, now)
    else {
      turns.refused(shard, isWaiting = fair)
      lacksRoom ||= !fits || !fair
      // A shard that has its share of the memory needs the disk, too.
      if (!fits || !fair) full(now)
    }
    hasRoom
  }

  /**
   * Bytes that the store may hold. Before the disk is open, an eighth of the memory stays free:
   * otherwise there would be no room for a page on its way to the disk.
   */
  private def capacity(held: Admission.Held, part: Long): Long =
    if (isDiskOpen) part + memory.share(diskBytes)
    else if (hasDisk) part / 8 * 7 + held.onDisk
    else part + held.onDisk

  /**
   * Whether the shard leaves room for others. Otherwise the backlog of one shard would fill the
   * store, and the records of the others would wait in Kinesis.
   */
  private def isFair(wanted: Admission.Wanted, capacity: Long): Boolean =
    wanted.isFirst || wanted.total <= capacity / 2 || wanted.held.ofShard == 0 ||
      wanted.isShare(capacity)

  /**
   * Whether memory has room for the page beside the requested ones. Otherwise pages that will go to
   * disk would exceed the memory before they get there. One page alone may.
   */
  private def canArrive(wanted: Admission.Wanted, part: Long): Boolean =
    wanted.reserved == 0 || wanted.inMemory <= part

  private def full(now: Instant): Unit = {
    val wasOpen = delay.isOpen
    delay.full(now)
    if (delay.isOpen && !wasOpen) lacksRoom = false
  }

  def grant(shard: StreamShard, estimate: Long, now: Instant): Unit = {
    reservations.add(shard, estimate, now)
    turns.granted(shard)
  }

  def release(shard: StreamShard): Unit = reservations.remove(shard)

  /** See [[PageStore.next]]. */
  def next(isAsking: StreamShard => Boolean): Vector[StreamShard] =
    turns.next(Admission.WokenAtOnce, isAsking)

  def forget(shard: StreamShard): Unit = turns.forget(shard)

  def dropped(): Unit = {
    lacksRoom = false
    delay.dropped()
  }

  /** Whether a page has had to wait for room since pages were last dropped. */
  def isFull: Boolean = lacksRoom
}

private[store] object Admission {

  /** The part of the memory for pages. The rest is for pages that were requested. */
  def pagesPart(memory: Long): Long = memory / 4 * 3

  /**
   * Shards to wake at once: one instead of the shard that released its room, and one in case that
   * there is room for more.
   */
  private val WokenAtOnce = 2

  /**
   * Bytes in the store.
   *
   * @param ofShard of the shard that asks, in memory and on disk
   */
  final case class Held(ofShard: Long, inMemory: Long, onDisk: Long)

  /**
   * A page that a shard wants to request.
   *
   * @param estimate bytes that it is expected to have
   * @param reserved bytes of the pages that were requested before
   * @param shards number of shards that share the store
   */
  private final case class Wanted(estimate: Long, reserved: Long, shards: Int, held: Held) {
    private def used = held.inMemory + held.onDisk + reserved

    /** Whether the store is empty: it accepts a page of any size. */
    def isFirst: Boolean = used == 0

    /** The bytes of the shard in memory and on disk, with the page. */
    def total: Long = used + estimate

    /** The bytes of the shard with the page, before any of it goes to disk. */
    def inMemory: Long = held.inMemory + reserved + estimate

    /** Whether the shard has no more than its part with the page. */
    def isShare(capacity: Long): Boolean =
      held.ofShard + estimate <= capacity / math.max(1, shards)
  }
}
