package sparkkinesis.sink.once

import sparkkinesis.model.PutEntry

/**
 * The rows of a task that earlier attempts have written. Used by one thread.
 *
 * A row that is in the stream more often than in the task cannot be taken back. It does not show
 * that the task has other rows than before.
 *
 * @param inBatch rows that earlier runs of the batch wrote, in any partition
 * @param inRun rows that earlier attempts of this partition wrote in this run
 */
final class EarlierRows(inBatch: FoundRows, inRun: FoundRows) {
  private var taken = 0L

  /** Number of rows of earlier runs that the task has: those that it skipped, and their copies. */
  def skipped: Long = taken + inBatch.surplus

  /** Number of rows in the stream that are there too often. */
  def surplus: Long = inBatch.surplus + inRun.surplus

  /** Whether the row is in the stream already. Each call stands for one row. */
  def contains(entry: PutEntry): Boolean =
    if (inBatch.remaining == 0 && inRun.remaining == 0) false
    else {
      val hash = Hash128.ofRow(entry)
      val isFound = inRun.take(hash) || takeOfBatch(hash)
      if (isFound) Seq(inRun, inBatch).foreach(_.markSeen(hash))
      isFound
    }

  private def takeOfBatch(hash: Hash128): Boolean = {
    val isFound = inBatch.take(hash)
    if (isFound) taken += 1
    isFound
  }

  /**
   * Checks the rows when the task has no more of them.
   *
   * @throws OnceException if it lacks rows that an earlier attempt of the partition wrote
   */
  def checkEnd(): Unit =
    if (inRun.missing > 0) throw OnceException.notDeterministic(inRun.missing, "task")
}
