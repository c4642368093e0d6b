package sparkkinesis.sink.once

/**
 * Rows that are in the stream already: a multiset of hashes. It copies no hash, so that the tasks
 * of an executor can share the array, and adds four bytes per row.
 *
 * @param sorted by [[SortedHashes.of]]; must not change
 */
final class FoundRows(sorted: Array[Byte]) {
  private val hashes = new SortedHashes(sorted)

  /** Marks at the first of equal hashes: 0, or 1 + the number taken if the task has such a row. */
  private val marks = new Array[Int](hashes.size)
  private var left = hashes.size

  /** Number of rows that were not taken. */
  def remaining: Int = left

  /** Number of rows that were not taken although the task has such a row: copies of it. */
  def surplus: Long =
    marks.indices.iterator
      .filter(marks(_) > 0)
      .map(it => hashes.countEqual(it) - marks(it) + 1L)
      .sum

  /** Number of rows that were not taken, and that the task does not have. */
  def missing: Long = left - surplus

  /** Takes one row with this hash; false if there is none. */
  def take(hash: Hash128): Boolean = {
    val first = markSeen(hash)
    val next = first + marks.lift(first).getOrElse(0) - 1
    val isLeft = first >= 0 && next < hashes.size && hashes.at(next) == hash
    if (isLeft) {
      marks(first) += 1
      left -= 1
    }
    isLeft
  }

  /**
   * The task has a row with this hash.
   *
   * @return index of the first equal hash; negative if there is none
   */
  def markSeen(hash: Hash128): Int = {
    val first = hashes.firstOf(hash)
    if (first >= 0) marks(first) = math.max(1, marks(first))
    first
  }
}
