package sparkkinesis.source.fetch

import scala.collection.mutable

import sparkkinesis.model.offset.Progress
import sparkkinesis.model.{PackedRecords, SequenceNumber, ServiceLimits, StreamShard}
import sparkkinesis.source.protocol.ShardRange

/**
 * Records of one `GetRecords` answer, with where they begin and end.
 *
 * @param upTo `After` the last record, or `Finished`
 */
final case class BufferedPage(from: Progress, records: PackedRecords, upTo: Progress) {
  def bytes: Long = records.bytes

  /** Where in the page reading goes on behind `progress`; `None` where the page does not hold it. */
  def indexBehind(progress: Progress): Option[Int] =
    if (progress == from) Some(0)
    else
      progress match {
        case Progress.After(sequenceNumber) => find(sequenceNumber).map(_ + 1)
        case Progress.Finished if upTo == Progress.Finished => Some(records.size)
        case _ => None
      }

  private def find(sequenceNumber: SequenceNumber): Option[Int] =
    if (records.isEmpty || sequenceNumber > records.sequenceNumber(records.size - 1)) None
    else {
      var (low, high) = (0, records.size - 1)
      while (low < high) {
        val middle = (low + high) / 2
        if (records.sequenceNumber(middle) < sequenceNumber) low = middle + 1 else high = middle
      }
      if (records.sequenceNumber(low) == sequenceNumber) Some(low) else None
    }
}

/**
 * The pages an executor has read ahead, by reference. They leave when their batch is done, never by
 * being read: a retried task finds them again. Safe for use by many threads.
 *
 * @param capacityBytes held and reserved together; a first page is let in whatever its size. Asked each
 *   time: where it has become less, nothing comes in until enough has left
 * @param spareBytes that pages on their way may take beyond it, should they be larger than estimated
 */
final class PageBuffer(capacityBytes: => Long, spareBytes: => Long = PageBuffer.SpareBytes) {
  import PageBuffer._

  private val shardPages = mutable.Map.empty[StreamShard, Held]
  private var held = 0L
  private var reserved = 0L
  private var onTheirWay = 0

  /**
   * Makes room for a page that is about to be asked for; to be given back by `release`. Beyond half of
   * the capacity a shard is held to its fair share, so that one with a backlog leaves room for others.
   *
   * @param estimate of the page's bytes
   * @param shards how many share the buffer
   */
  def reserve(shard: StreamShard, estimate: Long, shards: Int): Boolean = synchronized {
    val capacity = capacityBytes
    val total = held + reserved + estimate
    val own = shardPages.get(shard).fold(0L)(_.bytes)
    val isFair =
      total <= capacity / 2 || own == 0 || own + estimate <= capacity / math.max(1, shards)
    val atWorst = held + (onTheirWay + 1) * LargestPage
    val isSafe = total <= capacity && atWorst <= capacity + spareBytes
    val hasRoom = held + reserved == 0 || isSafe && isFair
    if (hasRoom) {
      reserved += estimate
      onTheirWay += 1
    }
    hasRoom
  }

  def release(estimate: Long): Unit = synchronized {
    reserved -= estimate
    onTheirWay -= 1
  }

  def add(shard: StreamShard, page: BufferedPage): Unit = synchronized {
    // A gap means the shard was assigned anew from elsewhere: what lies before is of no use.
    val follows = shardPages.get(shard).filter(_.pages.last.upTo == page.from)
    if (follows.isEmpty) drop(shard)
    val before = follows.getOrElse(Held(Vector.empty, 0))
    shardPages.update(shard, Held(before.pages :+ page, before.bytes + page.bytes))
    held += page.bytes
  }

  /** The records of the range in order, page by page; `None` where a part of it is not here. */
  def pages(range: ShardRange): Option[Iterator[PackedRecords]] = {
    val all = pagesOf(range.shard)
    for {
      first <- Some(all.indexWhere(_.indexBehind(range.from).isDefined)).filter(_ >= 0)
      last <- Some(all.indexWhere(_.indexBehind(range.upTo).isDefined, first)).filter(_ >= 0)
    } yield all.slice(first, last + 1).iterator.zipWithIndex.map { case (page, index) =>
      val begin = if (index == 0) page.indexBehind(range.from).getOrElse(0) else 0
      val end =
        if (first + index == last) page.indexBehind(range.upTo).getOrElse(0) else page.records.size
      page.records.slice(begin, end)
    }
  }

  /** Forgets the pages that end at or before `progress`: all of a finished shard's, whatever is missing. */
  def dropUpTo(shard: StreamShard, progress: Progress): Unit = synchronized {
    if (progress == Progress.Finished) drop(shard)
    else {
      val all = pagesOf(shard)
      val last = all.indexWhere(_.indexBehind(progress).isDefined)
      // A page whose middle it is stays until its end is passed.
      if (last >= 0) keep(shard, all.drop(if (all(last).upTo == progress) last + 1 else last))
    }
  }

  /** Forgets the pages after `progress`: they will be fetched anew. */
  def dropAfter(shard: StreamShard, progress: Progress): Unit = synchronized {
    val all = pagesOf(shard)
    keep(shard, all.take(all.indexWhere(_.upTo == progress) + 1))
  }

  def drop(shard: StreamShard): Unit = synchronized(keep(shard, Vector.empty))

  def clear(): Unit = synchronized(shards.foreach(drop))

  def shards: Set[StreamShard] = synchronized(shardPages.keySet.toSet)

  def bytes: Long = synchronized(held)

  private def pagesOf(shard: StreamShard): Vector[BufferedPage] =
    synchronized(shardPages.get(shard).fold(Vector.empty[BufferedPage])(_.pages))

  private def keep(shard: StreamShard, pages: Vector[BufferedPage]): Unit = {
    val bytes = pages.foldLeft(0L)(_ + _.bytes)
    held += bytes - shardPages.get(shard).fold(0L)(_.bytes)
    if (pages.isEmpty) shardPages.remove(shard) else shardPages.update(shard, Held(pages, bytes))
  }
}

object PageBuffer {

  /** Room for five of the largest pages beside a full buffer. */
  val SpareBytes: Long = 64L * 1024 * 1024

  /** A `GetRecords` answer as it is kept: what a shard brings next may be far more than its last page. */
  val LargestPage: Long =
    ServiceLimits.GetRecordsBytes + ServiceLimits.GetRecordsCount * PackedRecords.MostOverhead

  private final case class Held(pages: Vector[BufferedPage], bytes: Long)
}
