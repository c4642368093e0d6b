package sparkkinesis.source.replay

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.model.{PackedRecords, StreamArn, StreamShard}
import sparkkinesis.shard.ShardRange
import sparkkinesis.shard.feed.ShardRangeReader
import sparkkinesis.source.store.PageStore

/**
 * The pages of the ranges of a task, in order per range: those that the executor has read ahead,
 * and the others from Kinesis. While one shard cannot be read yet, it reads another one. Otherwise
 * a task with many shards would be as slow as one shard. Used by one thread.
 *
 * @param store of the executor; none if it does not read ahead
 * @param newReader creates the reader of a range that the store lacks
 */
private[sparkkinesis] final class TaskPages(
    ranges: Seq[ShardRange],
    store: Option[PageStore],
    newReader: StreamArn => ShardRangeReader
) {
  private var open = ranges.map(new Turn(_)).toVector // the range of the last page comes first

  /** The next page of any range; `None` after the last one. */
  @tailrec def next(): Option[TaskPage] =
    if (open.isEmpty) None
    else {
      val (turns, later) = open.splitAt(TaskPages.AtOnce)
      val (passed, rest) = turns.splitAt(soonest(turns))
      open = rest ++ passed ++ later
      if (open.head.pages.hasNext) Some(open.head.pages.next())
      else {
        open = open.tail
        next()
      }
    }

  private def soonest(turns: Vector[Turn]): Int =
    turns.indexWhere(_.pause <= Duration.Zero) match {
      case -1 => turns.indices.minBy(turns(_).pause)
      case index => index
    }

  /** A range, which is read when it has its turn. */
  private final class Turn(range: ShardRange) {
    private var reader = Option.empty[ShardRangeReader] // of pages that are not in the store
    private var parts = Iterator[TaskPage]() // of the last page, by micro-batch, in a replay

    /** The time until the next page can be read; zero if it can be read now. */
    def pause: FiniteDuration =
      reader.filterNot(_ => parts.hasNext).fold[FiniteDuration](Duration.Zero)(_.pause)

    /** The iterator waits for the next page if necessary. */
    lazy val pages: Iterator[TaskPage] =
      store.flatMap(_.parts(range)) match {
        case Some(parts) =>
          parts.iterator.flatMap { part =>
            part.records.fold(fromKinesis(part.range)) { records =>
              Iterator.single(TaskPage(range.shard, records))
            }
          }
        case None => fromKinesis(range)
      }

    private def fromKinesis(missing: ShardRange): Iterator[TaskPage] = {
      val opened = newReader(range.shard.stream)
      reader = Some(opened)
      opened.pages(missing).flatMap { case (shard, page) =>
        if (range.batches.isEmpty || page.isEmpty) Iterator.single(TaskPage(shard, page))
        else {
          parts = ReplayPlan.parts(range, page).map { case (batch, part) =>
            TaskPage(shard, part, batch)
          }
          parts
        }
      }
    }
  }
}

private object TaskPages {

  /**
   * Number of ranges that are read in turns: more than one thread can read at the quotas of their
   * shards. Iterators of more ranges might expire.
   */
  private val AtOnce = 64
}

/** @param batch number of the micro-batch that it belongs to, in a replay */
private[sparkkinesis] final case class TaskPage(
    shard: StreamShard,
    records: PackedRecords,
    batch: Long = 0
)
