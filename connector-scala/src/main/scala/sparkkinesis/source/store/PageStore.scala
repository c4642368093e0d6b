package sparkkinesis.source.store

import java.time.Instant

import scala.collection.mutable

import sparkkinesis.compat._
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, ServiceLimits, StreamShard}
import sparkkinesis.shard.{FetchMemory, ShardRange}

/**
 * The pages that an executor has read ahead for one query: first in memory, then on disk. A page
 * stays until its batch is done, so that a retried task finds it again. Safe for use by many
 * threads.
 *
 * @param memory limits pages in memory and reserved bytes together. An empty store accepts a page
 *   of any size. The limit may change: if it falls, the store accepts nothing until enough pages
 *   are gone.
 * @param diskBytes for the pages of all queries on disk, which share it evenly, like the memory
 */
private[sparkkinesis] final class PageStore(
    memory: FetchMemory#Account,
    diskBytes: Long = 0,
    spill: SpillSpace = SpillSpace.Off
) extends AutoCloseable {
  private val pages = mutable.Map.empty[StreamShard, Vector[StoredPage]] // in order, at least one
  private val admission = new Admission(memory, diskBytes, spill)

  /**
   * Reserves room for a page before it is requested. If the result is `true`, `release` must
   * follow.
   *
   * @param estimate bytes that the page is expected to have
   * @param shards number of shards that share the store
   * @param now of a clock that never jumps
   * @param isAwaited whether other shards wait for this one. If it has no page, it gets room for
   *   one: beyond the limit, or in place of pages of others. Only one shard at a time may be
   *   awaited.
   * @param wasRefused whether there was no memory for the last page of the shard
   */
  def reserve(
      shard: StreamShard,
      estimate: Long,
      shards: Int,
      now: Instant,
      isAwaited: => Boolean = false,
      wasRefused: Boolean = false
  ): Boolean = synchronized {
    val held = pagesOf(shard).iterator.map(_.bytes).sum
    if (held == 0 && admission.isOverfull(estimate, now, wasRefused) && isAwaited)
      makeRoom(estimate, now)
    admission.reserve(shard, held, estimate, shards, now, isAwaited)
  }

  /**
   * Drops the newest pages of the shards that are furthest ahead, which batches take last. Tasks
   * read them again. Otherwise the shards whose pages fill the memory would wait for ever for the
   * one that finds no room.
   */
  private def makeRoom(estimate: Long, now: Instant): Unit =
    while (pages.nonEmpty && admission.missing(estimate, now) > 0) {
      // A page on disk frees hardly any memory.
      val (furthest, _) = pages.maxBy { case (_, all) =>
        (all.last.onDisk.isEmpty, all.last.lastArrival)
      }
      retain(furthest)(_.init)
    }

  def release(shard: StreamShard): Unit = synchronized(admission.release(shard))

  /**
   * The shards that may have room after `release`, because it is their turn. Shards without a turn
   * have none before pages are dropped.
   *
   * @param isAsking whether a shard asks again if it is woken
   */
  def next(isAsking: StreamShard => Boolean): Vector[StreamShard] =
    synchronized(admission.next(isAsking))

  /** The shard is not read here any more. */
  def forget(shard: StreamShard): Unit = synchronized(admission.forget(shard))

  /** Room for the responses of a shard's calls. */
  def arrival(): FetchMemory#Arrival = memory.arrival()

  /** Writes pages to disk if the memory part is full. */
  def add(shard: StreamShard, page: StoredPage): Unit = {
    val block = synchronized {
      // After a gap the earlier pages are useless: the shard was assigned again, from another
      // position.
      if (pagesOf(shard).lastOption.exists(_.upTo != page.from)) drop(shard)
      pages.update(shard, pagesOf(shard) :+ page)
      admission.hold(page.bytes, 0)
      claimBlock(pagesOf(shard))
    }
    if (block.nonEmpty) moveToDisk(shard, block)
  }

  /**
   * The pages that go to disk now. Those that are too small for a block take an eighth of the
   * memory.
   */
  private def claimBlock(ofShard: Vector[StoredPage]): Vector[StoredPage] = {
    val least = math.min(StoredPage.SmallBytes, memory.bytes / 8 / pages.size)
    val block =
      if (admission.isSpilling) StoredPage.lastBlock(ofShard, least) else Vector.empty
    val bytes = block.map(_.bytes).sum
    if (admission.hasDiskRoom(bytes)) {
      admission.hold(0, bytes)
      block
    } else Vector.empty
  }

  private def moveToDisk(shard: StreamShard, block: Vector[StoredPage]): Unit = {
    val records = PackedRecords.joined(block.flatMap(_.inMemory))
    val written = spill.write(PageBytes.of(records)) // takes milliseconds
    val bytes = block.map(_.bytes).sum
    synchronized {
      val index = pagesOf(shard).indexOfSlice(block) // none if pages were dropped meanwhile
      written.filter(_ => index >= 0) match {
        case Some(id) =>
          val page = StoredPage.block(block, id)
          pages.update(shard, pagesOf(shard).patch(index, Vector(page), block.size))
          admission.hold(StoredPage.EntryBytes - bytes, 0)
        case None =>
          admission.hold(0, -bytes)
          written.foreach(spill.remove)
      }
    }
  }

  /** The parts of the range in order, page by page; `None` if the store lacks a part of it. */
  def parts(range: ShardRange): Option[Vector[StoredPart]] = {
    val all = pagesOf(range.shard)
    // A page that ends there contains the place, too, but the range begins in the next one.
    val first = all.lastIndexWhere(_.contains(range.start))
    val last = all.indexWhere(_.contains(range.upTo), first)
    Option.when(first >= 0 && last >= 0) {
      (first to last).toVector.map { index =>
        val part = if (index == first) range else rest(range, all(index - 1), all(index))
        val upTo = if (index == last) range.upTo else all(index).upTo
        new StoredPart(part.copy(upTo = upTo), all(index), spill)
      }
    }
  }

  /**
   * The rest of the range. A loss in it is judged by its first record, or by what was read before
   * if the page has none.
   */
  private def rest(range: ShardRange, before: StoredPage, page: StoredPage): ShardRange = {
    val completeAsOf = (range.completeAsOf ++ before.lastArrival).maxOption
    range.copy(from = before.upTo, completeAsOf = completeAsOf, first = page.first)
  }

  /** Drops the pages that end at or before `progress`, and all pages if the shard is finished. */
  def dropUpTo(shard: StreamShard, progress: Progress): Unit =
    if (progress == Progress.Finished) drop(shard)
    else
      retain(shard) { all =>
        all.drop(all.lastIndexWhere(_.contains(progress))).dropWhile(_.upTo == progress)
      }

  /** Drops the pages after `progress`. */
  def dropAfter(shard: StreamShard, progress: Progress): Unit =
    retain(shard)(all => all.take(all.indexWhere(_.upTo == progress) + 1))

  def drop(shard: StreamShard): Unit = retain(shard)(_ => Vector.empty)

  def clear(): Unit = shards.foreach(drop)

  /** Drops all pages, and leaves memory and disk to other services. */
  override def close(): Unit =
    try clear()
    finally memory.close()

  def shards: Set[StreamShard] = synchronized(pages.keySet.toSet)

  /** Number of marks of a shard's pages. */
  def marks(shard: StreamShard): Double = pagesOf(shard).iterator.map(_.marks).sum

  /** Whether any shard is read. Otherwise other services have its part of the memory. */
  def reads(anything: Boolean): Unit = memory.reads(anything)

  /** Sets bytes of the memory aside, which the executor holds in other things than pages. */
  def setAside(bytes: Long): Unit = memory.setAside(bytes)

  /**
   * Bytes that a page should take at most, so that each shard has room for several. Larger pages
   * would take turns, or go to disk.
   */
  def pageBytes(shards: Int): Long =
    math.max(PageStore.UsefulPage, memory.bytes / (PageStore.PagesPerShard * math.max(1, shards)))

  /** Most bytes in memory. */
  def memoryBytes: Long = memory.bytes

  /** Bytes in memory. */
  def bytes: Long = synchronized(admission.bytes)

  /** Bytes on disk. */
  def spilledBytes: Long = synchronized(admission.spilledBytes)

  /** Whether a page has had to wait for room since pages were last dropped. */
  def isFull: Boolean = synchronized(admission.isFull && pages.nonEmpty)

  private def pagesOf(shard: StreamShard): Vector[StoredPage] =
    synchronized(pages.getOrElse(shard, Vector.empty))

  private def retain(shard: StreamShard)(kept: Vector[StoredPage] => Vector[StoredPage]): Unit =
    synchronized {
      val before = pagesOf(shard)
      val after = kept(before)
      if (after.size < before.size) {
        val gone = before.diff(after)
        admission.hold(-gone.map(_.memoryBytes).sum, -gone.map(_.diskBytes).sum)
        admission.dropped()
        if (after.isEmpty) pages -= shard else pages.update(shard, after)
        gone.flatMap(_.onDisk).foreach(spill.remove)
      }
    }
}

private object PageStore {
  private val PagesPerShard = 4

  /** At five calls per second, smaller pages would not reach the quota of a shard. */
  private val UsefulPage =
    ServiceLimits.ReadBytesPerSecond * ServiceLimits.GetRecordsPeriod.toMillis / 1000
}
