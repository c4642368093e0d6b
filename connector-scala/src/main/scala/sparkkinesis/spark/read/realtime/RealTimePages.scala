package sparkkinesis.spark.read.realtime

import sparkkinesis.model.StreamShard
import sparkkinesis.model.offset.Progress
import sparkkinesis.source.realtime.RealTimeShards
import sparkkinesis.source.store.PageStore

/** What a task needs of its executor. */
private[sparkkinesis] trait RealTimePages {
  def shards: RealTimeShards
  def store: PageStore

  /** Drops the pages of the shard that no task needs any more. */
  def drop(shard: StreamShard, upTo: Progress): Unit

  /** Counts a page that the store has lost. */
  def countReread(): Unit

  /** What is to be read has changed. */
  def hurry(): Unit
}

/**
 * An attempt to run a task.
 *
 * @param id a number that is larger for each later attempt
 * @param isRetry whether an earlier attempt of the task has failed
 */
private[sparkkinesis] final case class RealTimeAttempt(
    id: Long,
    isRetry: Boolean,
    isCancelled: () => Boolean
)
