package sparkkinesis.source.fetch

import scala.collection.mutable

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, ServiceLimits, StreamShard}
import sparkkinesis.source.protocol.ShardRange

/**
 * The pages that an executor has read ahead. A page stays until its batch is done, so that a retried
 * task finds it again. Safe for use by many threads.
 *
 * @param capacityBytes limit for buffered and reserved bytes together. An empty buffer accepts a page of
 *   any size. The limit may change: if it falls, the buffer accepts nothing until enough pages are gone.
 * @param spareBytes bytes beyond the capacity that pending pages may take if they are larger than
 *   estimated
 */
final class PageBuffer(capacityBytes: => Long, spareBytes: => Long = PageBuffer.SpareBytes) {
  import PageBuffer._

  private val shardPages = mutable.Map.empty[StreamShard, Pages]
  private var buffered = 0L
  private var reserved = 0L
  private var pending = 0

  /**
   * Reserves room for a page before it is requested. If the result is `true`, `release` must follow. When
   * half of the capacity is used, each shard is limited to its fair share, so that a shard with a
   * backlog leaves room for others.
   *
   * @param estimate estimated bytes of the page
   * @param shards number of shards that share the buffer
   */
  def reserve(shard: StreamShard, estimate: Long, shards: Int): Boolean = synchronized {
    val capacity = capacityBytes
    val total = buffered + reserved + estimate
    val ofShard = shardPages.get(shard).fold(0L)(_.bytes)
    val isFair =
      total <= capacity / 2 || ofShard == 0 || ofShard + estimate <= capacity / math.max(1, shards)
    val worstCase = buffered + (pending + 1) * LargestPage
    val isSafe = total <= capacity && worstCase <= capacity + spareBytes
    val hasRoom = buffered + reserved == 0 || isSafe && isFair
    if (hasRoom) {
      reserved += estimate
      pending += 1
    }
    hasRoom
  }

  def release(estimate: Long): Unit = synchronized {
    reserved -= estimate
    pending -= 1
  }

  def add(shard: StreamShard, page: BufferedPage): Unit = synchronized {
    // After a gap the earlier pages are useless: the shard was assigned again, from another position.
    val continued = shardPages.get(shard).filter(_.pages.last.upTo == page.from)
    if (continued.isEmpty) drop(shard)
    val before = continued.getOrElse(Pages(Vector.empty, 0))
    shardPages.update(shard, Pages(before.pages :+ page, before.bytes + page.bytes))
    buffered += page.bytes
  }

  /** The records of the range in order, page by page; `None` if part of the range is not buffered. */
  def pages(range: ShardRange): Option[Iterator[PackedRecords]] = {
    val all = pagesOf(range.shard)
    for {
      first <- Some(all.indexWhere(_.indexAfter(range.from).isDefined)).filter(_ >= 0)
      last <- Some(all.indexWhere(_.indexAfter(range.upTo).isDefined, first)).filter(_ >= 0)
    } yield all.slice(first, last + 1).iterator.zipWithIndex.map { case (page, index) =>
      val begin = if (index == 0) page.indexAfter(range.from).getOrElse(0) else 0
      val end =
        if (first + index == last) page.indexAfter(range.upTo).getOrElse(0) else page.records.size
      page.records.slice(begin, end)
    }
  }

  /** Drops the pages that end at or before `progress`, and all pages if the shard is finished. */
  def dropUpTo(shard: StreamShard, progress: Progress): Unit = synchronized {
    if (progress == Progress.Finished) drop(shard)
    else {
      val all = pagesOf(shard)
      val last = all.indexWhere(_.indexAfter(progress).isDefined)
      // A page that ends after `progress` stays.
      if (last >= 0) setPages(shard, all.drop(if (all(last).upTo == progress) last + 1 else last))
    }
  }

  /** Drops the pages after `progress`. */
  def dropAfter(shard: StreamShard, progress: Progress): Unit = synchronized {
    val all = pagesOf(shard)
    setPages(shard, all.take(all.indexWhere(_.upTo == progress) + 1))
  }

  def drop(shard: StreamShard): Unit = synchronized(setPages(shard, Vector.empty))

  def clear(): Unit = synchronized(shards.foreach(drop))

  def shards: Set[StreamShard] = synchronized(shardPages.keySet.toSet)

  def bytes: Long = synchronized(buffered)

  private def pagesOf(shard: StreamShard): Vector[BufferedPage] =
    synchronized(shardPages.get(shard).fold(Vector.empty[BufferedPage])(_.pages))

  private def setPages(shard: StreamShard, pages: Vector[BufferedPage]): Unit = {
    val bytes = pages.foldLeft(0L)(_ + _.bytes)
    buffered += bytes - shardPages.get(shard).fold(0L)(_.bytes)
    if (pages.isEmpty) shardPages.remove(shard) else shardPages.update(shard, Pages(pages, bytes))
  }
}

object PageBuffer {

  /** Room for five of the largest pages in addition to a full buffer. */
  val SpareBytes: Long = 64L * 1024 * 1024

  /** Bytes of the largest possible page: the next page may be far larger than its estimate. */
  val LargestPage: Long =
    ServiceLimits.GetRecordsBytes + ServiceLimits.GetRecordsCount * PackedRecords.MostOverhead

  private final case class Pages(pages: Vector[BufferedPage], bytes: Long)
}
