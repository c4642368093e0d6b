package sparkkinesis.source.fetch

import scala.collection.mutable

/**
 * How many marks of one shard are in the store, so that a fetcher with small batches does not read
 * far ahead. Used by one thread at a time.
 *
 * @param most number of marks that are enough; `None` if marks are not counted
 */
private[fetch] final class StoredMarks(most: Option[Int]) {
  private val counts = mutable.Queue.empty[Int] // per stored page
  private var sum = 0

  /** A page with so many marks was stored. */
  def add(marks: Int): Unit = if (most.nonEmpty) {
    counts.enqueue(marks)
    sum += marks
  }

  /** @param pages number of pages that are still in the store */
  def areEnough(pages: => Int): Boolean = most.exists { limit =>
    val stored = pages
    while (counts.size > stored) sum -= counts.dequeue()
    sum >= limit
  }
}
