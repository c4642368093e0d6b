package sparkkinesis.sink.once

import scala.collection.mutable

/** Rows that are in the stream already: a multiset of hashes. */
final class FoundRows(hashes: Iterator[Hash128]) {
  private val counts = mutable.HashMap.empty[Hash128, Int]
  private val known = mutable.HashSet.empty[Hash128]
  private var left = 0L
  hashes.foreach { hash =>
    counts(hash) = counts.getOrElse(hash, 0) + 1
    left += 1
  }

  /** Number of rows that were not taken. */
  def remaining: Long = left

  /** Number of rows that were not taken although the task has such a row: copies of it. */
  def surplus: Long = known.iterator.map(counts(_).toLong).sum

  /** Number of rows that were not taken, and that the task does not have. */
  def missing: Long = left - surplus

  /** Takes one row with this hash; false if there is none. */
  def take(hash: Hash128): Boolean = counts.get(hash) match {
    case None => false
    case Some(count) =>
      if (count == 1) {
        counts -= hash
        known -= hash
      } else counts(hash) = count - 1
      left -= 1
      true
  }

  /** The task has a row with this hash. */
  def know(hash: Hash128): Unit = if (counts.contains(hash)) known += hash
}
