package sparkkinesis.source.store

import java.time.Instant

import scala.collection.mutable

import sparkkinesis.client.{KinesisException, ResponseRoom}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, StreamShard}
import sparkkinesis.source.memory.FetchMemory
import sparkkinesis.source.protocol.ShardRange

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
final class PageStore(
    memory: FetchMemory#Account,
    diskBytes: Long = 0,
    spill: SpillSpace = SpillSpace.Off
) extends Arrivals
    with AutoCloseable {
  private val shardPages = mutable.Map.empty[StreamShard, Pages]
  private val admission = new Admission(memory, diskBytes, spill)

  /**
   * Reserves room for a page before it is requested. If the result is `true`, `release` must
   * follow.
   *
   * @param estimate bytes that the page is expected to have
   * @param shards number of shards that share the store
   * @param now of a clock that never jumps
   * @param isAwaited whether other shards wait for this one. If it has no page, it gets room for
   *   one beyond the limit. Only one shard at a time may be awaited.
   */
  def reserve(
      shard: StreamShard,
      estimate: Long,
      shards: Int,
      now: Instant,
      isAwaited: => Boolean = false
  ): Boolean =
    synchronized {
      admission.reserve(shard, pagesOf(shard).bytes, estimate, shards, now, isAwaited)
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

  override def receive[A](call: => A): Either[Long, (A, AutoCloseable)] = {
    val arrival = memory.arrival()
    try Right(ResponseRoom.limiting(arrival)(call) -> arrival)
    catch {
      case e: Throwable =>
        arrival.close()
        e match {
          case failure: KinesisException => Left(arrival.refused.getOrElse(throw failure))
          case other => throw other
        }
    }
  }

  /** Writes pages to disk if the memory part is full. */
  def add(shard: StreamShard, page: BufferedPage): Unit = {
    val (block, gone) = synchronized {
      // After a gap the earlier pages are useless: the shard was assigned again, from another
      // position.
      val follows = pagesOf(shard).all.lastOption.forall(_.upTo == page.from)
      val gone = if (follows) Vector.empty else keep(shard)(_ => 0 -> 0)
      val pages = pagesOf(shard) + StoredPage.of(page)
      shardPages.update(shard, pages)
      admission.hold(page.bytes, 0)
      (claimBlock(pages), gone)
    }
    gone.flatMap(_.onDisk).foreach(spill.remove)
    if (block.nonEmpty) moveToDisk(shard, block)
  }

  /**
   * The pages that go to disk now. Those that are too small for a block take an eighth of the
   * memory.
   */
  private def claimBlock(pages: Pages): Vector[StoredPage] = {
    val share = memory.bytes / 8 / shardPages.size
    val least = math.min(Pages.SmallBytes, share)
    val block = if (admission.isSpilling) pages.block(least) else Vector.empty
    val bytes = block.map(_.bytes).sum
    if (admission.hasDiskRoom(bytes)) {
      admission.hold(0, bytes)
      block
    } else Vector.empty
  }

  private def moveToDisk(shard: StreamShard, block: Vector[StoredPage]): Unit = {
    val records = PackedRecords.joined(block.flatMap(_.loaded))
    val written = spill.write(PageBytes.of(records)) // takes milliseconds
    val isKept = synchronized {
      val bytes = block.map(_.bytes).sum
      val moved = written.flatMap(id => pagesOf(shard).replaced(block, StoredPage.block(block, id)))
      moved.foreach { pages =>
        shardPages.update(shard, pages)
        admission.hold(StoredPage.EntryBytes - bytes, 0)
      }
      if (moved.isEmpty) admission.hold(0, -bytes)
      moved.nonEmpty
    }
    if (!isKept) written.foreach(spill.remove)
  }

  /** The parts of the range in order, page by page; `None` if the store lacks a part of it. */
  def parts(range: ShardRange): Option[Vector[StoredPart]] =
    StoredPart.of(range, pagesOf(range.shard).all, spill)

  /** Drops the pages that end at or before `progress`, and all pages if the shard is finished. */
  def dropUpTo(shard: StreamShard, progress: Progress): Unit =
    if (progress == Progress.Finished) drop(shard)
    else
      retain(shard) { all =>
        val last = all.indexWhere(_.contains(progress))
        // A page that ends after `progress` stays.
        val first = if (last >= 0 && all(last).upTo == progress) last + 1 else math.max(last, 0)
        first -> all.size
      }

  /** Drops the pages after `progress`. */
  def dropAfter(shard: StreamShard, progress: Progress): Unit =
    retain(shard)(all => 0 -> (all.indexWhere(_.upTo == progress) + 1))

  def drop(shard: StreamShard): Unit = retain(shard)(_ => 0 -> 0)

  def clear(): Unit = shards.foreach(drop)

  /** Drops all pages, and leaves memory and disk to other services. */
  override def close(): Unit =
    try clear()
    finally memory.close()

  def shards: Set[StreamShard] = synchronized(shardPages.keySet.toSet)

  /** Number of marks of a shard's pages. */
  def marks(shard: StreamShard): Double = pagesOf(shard).marks

  /** Sets bytes of the memory aside, which the executor holds in other things than pages. */
  def setAside(bytes: Long): Unit = memory.setAside(bytes)

  /** Most bytes in memory. */
  def memoryBytes: Long = memory.bytes

  /** Bytes in memory. */
  def bytes: Long = synchronized(admission.bytes)

  /** Bytes on disk. */
  def spilledBytes: Long = synchronized(admission.spilledBytes)

  /** Whether a page has had to wait for room since pages were last dropped. */
  def isFull: Boolean = synchronized(admission.isFull && shardPages.nonEmpty)

  private def pagesOf(shard: StreamShard): Pages =
    synchronized(shardPages.getOrElse(shard, Pages.Empty))

  private def retain(shard: StreamShard)(kept: Vector[StoredPage] => (Int, Int)): Unit = {
    val gone = synchronized(keep(shard)(kept))
    gone.flatMap(_.onDisk).foreach(spill.remove)
  }

  /**
   * @param kept from the shard's pages, the range of those that stay
   * @return the others, which are still on disk
   */
  private def keep(shard: StreamShard)(
      kept: Vector[StoredPage] => (Int, Int)
  ): Vector[StoredPage] = {
    val before = pagesOf(shard).all
    val (from, until) = kept(before)
    val after = before.slice(from, until)
    if (after.size == before.size) Vector.empty
    else {
      val gone = before.take(from) ++ before.drop(math.max(from, until))
      admission.hold(-gone.map(_.memoryBytes).sum, -gone.map(_.diskBytes).sum)
      admission.dropped()
      if (after.isEmpty) shardPages.remove(shard): Unit
      else shardPages.update(shard, Pages.of(after))
      gone
    }
  }
}
