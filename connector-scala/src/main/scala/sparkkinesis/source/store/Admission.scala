package sparkkinesis.source.store

import java.time.Instant

import scala.concurrent.duration.FiniteDuration

import sparkkinesis.model.StreamShard
import sparkkinesis.source.memory.{FetchMemory, ShardTurns}

/**
 * Decides which shards may request a page, so that the store has room for it. Its owner's lock guards
 * it.
 *
 * When half of the capacity is used, each shard is limited to its fair share, so that a shard with a
 * backlog leaves room for others. Shards whose pages are larger than that take turns.
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
    val (part, reserved) = (memory.bytes, reservations.bytes(now))
    delay.afterDrop(now)
    if (held.inMemory + reserved + estimate > Admission.pagesPart(part)) full(now)
    val capacity =
      if (isDiskOpen) part + memory.share(diskBytes)
      // With room for a page on its way to disk.
      else if (hasDisk) part / 8 * 7 + held.onDisk
      else part + held.onDisk
    val used = held.inMemory + held.onDisk + reserved
    val total = used + estimate
    val isSmall = held.ofShard + estimate <= capacity / math.max(1, shards)
    val isFair = used == 0 || total <= capacity / 2 || held.ofShard == 0 || isSmall
    val fits = total <= capacity && held.inMemory < part
    // A page that will go to disk needs memory until then.
    val canArrive = reserved == 0 || held.inMemory + reserved + estimate <= part
    val hasRoom = (used == 0 || fits && canArrive) && isFair && turns.isNext(shard, isSmall)
    if (hasRoom) grant(shard, estimate, now)
    else {
      turns.refused(shard, isWaiting = isFair)
      lacksRoom ||= !fits || !isFair
      // A shard that has its share of the memory needs the disk, too.
      if (!fits || !isFair) full(now)
    }
    hasRoom
  }

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

  /** One instead of the shard that released its room, and one in case that there is room for more. */
  private val WokenAtOnce = 2

  /**
   * Bytes in the store.
   *
   * @param ofShard of the shard that asks, in memory and on disk
   */
  final case class Held(ofShard: Long, inMemory: Long, onDisk: Long)
}
