package sparkkinesis.source

import scala.collection.mutable

import sparkkinesis.model._

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
 * @param capacityBytes the fetchers stop asking beyond it; a page that is already asked for still fits
 */
final class PageBuffer(capacityBytes: Long) {
  private val pages = mutable.Map.empty[ShardId, Vector[BufferedPage]]
  private var held = 0L

  def add(shard: ShardId, page: BufferedPage): Unit = synchronized {
    val before = pages.getOrElse(shard, Vector.empty)
    // A gap means the shard was assigned anew from elsewhere: what lies before is of no use.
    val kept = if (before.lastOption.forall(_.upTo == page.from)) before else Vector.empty
    held += page.bytes - (before.map(_.bytes).sum - kept.map(_.bytes).sum)
    pages.update(shard, kept :+ page)
  }

  /**
   * Whether one more page may be asked for. Beyond half of the capacity a shard is held to its fair
   * share, so that one with a backlog leaves room for the others.
   */
  def hasRoom(shard: ShardId, shards: Int): Boolean = synchronized {
    def own = pages.get(shard).fold(0L)(_.map(_.bytes).sum)
    held < capacityBytes / 2 || held < capacityBytes && own < capacityBytes / math.max(1, shards)
  }

  /** The records of the range in order; `None` where a part of it is not here. */
  def records(range: ShardRange): Option[Iterator[Record]] = {
    val all = synchronized(pages.getOrElse(range.shard, Vector.empty))
    for {
      first <- Some(all.indexWhere(_.indexBehind(range.from).isDefined)).filter(_ >= 0)
      last <- Some(all.indexWhere(_.indexBehind(range.upTo).isDefined, first)).filter(_ >= 0)
    } yield all.slice(first, last + 1).iterator.zipWithIndex.flatMap { case (page, index) =>
      val begin = if (index == 0) page.indexBehind(range.from).getOrElse(0) else 0
      val end =
        if (first + index == last) page.indexBehind(range.upTo).getOrElse(0) else page.records.size
      page.records.view.slice(begin, end)
    }
  }

  /** Forgets the pages that end at or before `progress`. */
  def dropUpTo(shard: ShardId, progress: Progress): Unit = synchronized {
    pages.get(shard).foreach { all =>
      val last = all.indexWhere(_.indexBehind(progress).isDefined)
      if (last >= 0) {
        // A page whose middle it is stays until its end is passed.
        val done = if (all(last).upTo == progress) last + 1 else last
        held -= all.take(done).map(_.bytes).sum
        if (done == all.size) pages.remove(shard) else pages.update(shard, all.drop(done))
      }
    }
  }

  /** Forgets the pages after `progress`: they will be fetched anew. */
  def dropAfter(shard: ShardId, progress: Progress): Unit = synchronized {
    pages.get(shard).foreach { all =>
      val kept = all.take(all.indexWhere(_.upTo == progress) + 1)
      held -= all.drop(kept.size).map(_.bytes).sum
      if (kept.isEmpty) pages.remove(shard) else pages.update(shard, kept)
    }
  }

  def drop(shard: ShardId): Unit = synchronized {
    pages.remove(shard).foreach(all => held -= all.map(_.bytes).sum)
  }

  def shards: Set[ShardId] = synchronized(pages.keySet.toSet)

  def bytes: Long = synchronized(held)
}
