package sparkkinesis.sink.once

import sparkkinesis.model.PutEntry

/**
 * The rows of a task that earlier attempts have written. Used by one thread.
 *
 * @param inBatch rows that earlier runs of the batch wrote, in any partition
 * @param inRun rows that earlier attempts of this partition wrote in this run
 */
final class EarlierRows(inBatch: FoundRows, inRun: FoundRows) {
  private var taken = 0L

  /** Number of rows of earlier runs that the task skipped. */
  def skipped: Long = taken

  /** Whether the row is in the stream already. Each call stands for one row. */
  def contains(entry: PutEntry): Boolean =
    if (inBatch.remaining == 0 && inRun.remaining == 0) false
    else {
      val hash = Hash128.ofRow(entry)
      inRun.take(hash) || {
        val isFound = inBatch.take(hash)
        if (isFound) taken += 1
        isFound
      }
    }

  /**
   * To be called when the task has no more rows.
   *
   * @throws OnceException if it lacks rows that an earlier attempt of the partition wrote
   */
  def checkEnd(): Unit =
    if (inRun.remaining > 0) throw OnceException.notDeterministic(inRun.remaining, "task")
}
