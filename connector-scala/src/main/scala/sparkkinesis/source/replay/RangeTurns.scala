package sparkkinesis.source.replay

import scala.annotation.tailrec
import scala.concurrent.duration._

import sparkkinesis.model.{PackedRecords, StreamShard}

/**
 * Reads the ranges of a task, one page at a time: while one shard cannot be read yet, it reads
 * another one. Otherwise a task with many shards would be as slow as one shard. Used by one thread.
 */
final class RangeTurns[T <: RangeTurns.Turn](ranges: Seq[T]) {
  private var open = ranges.toVector // the range of the last page comes first

  /** The next page of any range, and its range; `None` after the last one. In order per range. */
  @tailrec
  def next(): Option[(T, (StreamShard, PackedRecords))] =
    if (open.isEmpty) None
    else {
      val (turns, later) = open.splitAt(RangeTurns.AtOnce)
      val (passed, rest) = turns.splitAt(soonest(turns))
      open = rest ++ passed ++ later
      if (open.head.pages.hasNext) Some(open.head -> open.head.pages.next())
      else {
        open = open.tail
        next()
      }
    }

  private def soonest(turns: Vector[T]): Int =
    turns.indexWhere(_.pause <= Duration.Zero) match {
      case -1 => turns.indices.minBy(turns(_).pause)
      case index => index
    }
}

object RangeTurns {

  /**
   * Number of ranges that are read in turns: more than one thread can read at the quotas of their
   * shards. Iterators of more ranges might expire.
   */
  private val AtOnce = 64

  /** A range, which is read when it has its turn. */
  trait Turn {

    /** The pages in order. The iterator waits for the next page if necessary. */
    def pages: Iterator[(StreamShard, PackedRecords)]

    /** The time until the next page can be read; zero if it can be read now. */
    def pause: FiniteDuration
  }
}
