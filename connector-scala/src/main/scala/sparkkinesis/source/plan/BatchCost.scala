package sparkkinesis.source.plan

import scala.concurrent.duration._

/**
 * Learns what a batch costs Spark whatever its size: two checkpoint files, a plan, a job. Used by
 * one thread at a time. All times are of a clock that never jumps.
 *
 * Between the end of a batch and its tasks, Spark writes the first of the two files and plans. No
 * record is read in that time, so it does not depend on the size of the batch. It is about half of
 * the cost. The reasons are in docs/adr/0021-batch-size.md.
 */
private[sparkkinesis] final class BatchCost {
  import BatchCost._

  private var beginning = Option.empty[FiniteDuration] // of a batch that has no tasks yet
  private var doneAt = Option.empty[FiniteDuration]
  private var begunAt = Option.empty[FiniteDuration]
  private var gaps = Vector.empty[FiniteDuration]

  /** The end of a batch was found. */
  def found(now: FiniteDuration): Unit = {
    beginning = Some(now)
    begunAt = Some(now)
  }

  /**
   * Notes that the tasks of the batch are planned.
   *
   * @param waitEnd when a source of the same query last ended a wait, which is not a cost
   */
  def planned(now: FiniteDuration, waitEnd: FiniteDuration): Unit = {
    beginning.foreach(begin => gaps = (gaps :+ (now - begin.max(waitEnd))).takeRight(Recent))
    beginning = None
  }

  /** The batch is done. */
  def done(now: FiniteDuration): Unit = doneAt = Some(now)

  /**
   * The time at which the next batch begins if its cost is to be a small part of the time between
   * batches; `None` before the first batch, and if the trigger has an interval: a wait could skip
   * one.
   *
   * @param asked when Spark asked for the batch. Without an interval it asks as soon as the last
   *   batch is done.
   */
  def nextAt(asked: FiniteDuration): Option[FiniteDuration] =
    for {
      begin <- begunAt
      done <- doneAt if asked - done < AtOnce
      // The smallest one: the others contain a cold JVM, or a garbage collection.
      gap <- gaps.reduceOption(_ min _)
    } yield begin + (gap * PartsOfCost * Parts).min(Longest)
}

private[sparkkinesis] object BatchCost {

  /** The cost is 5 % of the time. */
  private val Parts = 20L
  private val PartsOfCost = 2L
  private val Recent = 8

  /** Spark's own work between two batches. */
  private val AtOnce = 250.millis

  /** A query with a slow checkpoint store should still show its progress. */
  private val Longest = 10.seconds
}
