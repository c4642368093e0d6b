package sparkkinesis.source.fetch

import java.time.Instant

import scala.collection.mutable
import scala.concurrent.duration._

import sparkkinesis.client.{KinesisException, ResponseRoom}
import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, StreamShard}
import sparkkinesis.source.memory.{FetchMemory, ShardTurns}
import sparkkinesis.source.protocol.ShardRange

/**
 * The pages that an executor has read ahead for one query. A page stays until its batch is done, so
 * that a retried task finds it again. Safe for use by many threads.
 *
 * @param memory limits buffered and reserved bytes together. An empty buffer accepts a page of any
 *   size. The limit may change: if it falls, the buffer accepts nothing until enough pages are
 *   gone.
 */
final class PageBuffer(memory: FetchMemory#Account) extends AutoCloseable {
  import PageBuffer._

  private val shardPages = mutable.Map.empty[StreamShard, Pages]
  private val reservations = mutable.Map.empty[StreamShard, Reservation]
  private val turns = new ShardTurns
  private var buffered = 0L

  /**
   * Reserves room for a page before it is requested. If the result is `true`, `release` must
   * follow. When half of the capacity is used, each shard is limited to its fair share, so that a
   * shard with a backlog leaves room for others. Shards whose pages are larger than that take
   * turns.
   *
   * @param estimate bytes that the page is expected to have
   * @param shards number of shards that share the buffer
   * @param now of a clock that never jumps
   */
  def reserve(shard: StreamShard, estimate: Long, shards: Int, now: Instant): Boolean =
    synchronized {
      val (capacity, used) = (memory.bytes, buffered + reserved(now))
      val total = used + estimate
      val ofShard = shardPages.get(shard).fold(0L)(_.bytes)
      val isSmall = ofShard + estimate <= capacity / math.max(1, shards)
      val isFair = used == 0 || total <= capacity / 2 || ofShard == 0 || isSmall
      val hasRoom =
        (used == 0 || total <= capacity) && isFair && turns.isNext(shard, isSmall)
      if (hasRoom) {
        reservations.update(shard, Reservation(estimate, now))
        turns.granted(shard)
      } else turns.refused(shard, isWaiting = isFair)
      hasRoom
    }

  /** The same beyond the limit, for the only page of a shard. One shard may do so at a time. */
  def reserveFirst(shard: StreamShard, estimate: Long, now: Instant): Boolean = synchronized {
    val hasRoom = !shardPages.contains(shard)
    if (hasRoom) {
      reservations.update(shard, Reservation(estimate, now))
      turns.granted(shard)
    }
    hasRoom
  }

  /** The shard is not read here any more. */
  def forget(shard: StreamShard): Unit = synchronized(turns.forget(shard))

  def release(shard: StreamShard): Unit = synchronized(reservations.remove(shard): Unit)

  /**
   * Makes a call whose response waits until the executor has memory for it.
   *
   * @return the bytes of the response if there was no memory for them
   */
  def receiving[A](call: => A): Either[Long, A] = {
    val arrival = memory.arrival()
    try Right(ResponseRoom.limiting(arrival)(call))
    catch {
      case e: KinesisException => Left(arrival.refused.getOrElse(throw e))
    } finally arrival.close()
  }

  /** Without calls that hang: they must not hold up other shards. */
  private def reserved(now: Instant): Long = {
    val hanging = now.minusMillis(HangTime.toMillis)
    reservations.valuesIterator.filterNot(_.since.isBefore(hanging)).map(_.bytes).sum
  }

  def add(shard: StreamShard, page: BufferedPage): Unit = synchronized {
    // After a gap the earlier pages are useless, because the shard was assigned again from another
    // position.
    val continued = shardPages.get(shard).filter(_.pages.last.upTo == page.from)
    if (continued.isEmpty) drop(shard)
    val before = continued.getOrElse(Pages(Vector.empty, 0))
    shardPages.update(shard, Pages(before.pages :+ page, before.bytes + page.bytes))
    hold(page.bytes)
  }

  /**
   * The records of the range in order, page by page; `None` if part of the range is not buffered.
   */
  def pages(range: ShardRange): Option[Iterator[PackedRecords]] = {
    val all = pagesOf(range.shard)
    for {
      first <- Some(all.indexWhere(_.indexAfter(range.start).isDefined)).filter(_ >= 0)
      last <- Some(all.indexWhere(_.indexAfter(range.upTo).isDefined, first)).filter(_ >= 0)
    } yield all.slice(first, last + 1).iterator.zipWithIndex.map { case (page, index) =>
      val begin = if (index == 0) page.indexAfter(range.start).getOrElse(0) else 0
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

  /** Drops all pages, and leaves the memory to other services. */
  override def close(): Unit = synchronized {
    clear()
    memory.close()
  }

  def shards: Set[StreamShard] = synchronized(shardPages.keySet.toSet)

  def bytes: Long = synchronized(buffered)

  def pageCount(shard: StreamShard): Int = pagesOf(shard).size

  private def hold(change: Long): Unit = {
    buffered += change
    memory.hold(change)
  }

  private def pagesOf(shard: StreamShard): Vector[BufferedPage] =
    synchronized(shardPages.get(shard).fold(Vector.empty[BufferedPage])(_.pages))

  private def setPages(shard: StreamShard, pages: Vector[BufferedPage]): Unit = {
    val bytes = pages.foldLeft(0L)(_ + _.bytes)
    hold(bytes - shardPages.get(shard).fold(0L)(_.bytes))
    if (pages.isEmpty) shardPages.remove(shard) else shardPages.update(shard, Pages(pages, bytes))
  }
}

private object PageBuffer {

  /** Most calls take far less. */
  private val HangTime = 3.seconds

  private final case class Reservation(bytes: Long, since: Instant)

  private final case class Pages(pages: Vector[BufferedPage], bytes: Long)
}
