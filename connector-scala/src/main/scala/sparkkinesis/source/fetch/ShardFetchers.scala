package sparkkinesis.source.fetch

import scala.collection.mutable

import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol.{Assignment, FetchPlan}

/**
 * The shards an executor is to read, and the pages it holds of them, as the driver's plans say. Without
 * threads; used by one at a time.
 *
 * @param fetcher for an assignment
 */
final class ShardFetchers(buffer: PageBuffer, fetcher: Assignment => ShardFetcher) {
  private val fetchers = mutable.Map.empty[StreamShard, ShardFetcher]

  /** @return the fetchers that begin now; those no longer assigned end */
  def apply(plan: FetchPlan): Seq[ShardFetcher] = {
    val assigned = plan.assignments.map(_.shard).toSet
    fetchers.keySet.diff(assigned).foreach(fetchers.remove)
    buffer.shards.filterNot(id => assigned(id) || plan.done.contains(id)).foreach(buffer.drop)
    plan.done.foreach { case (shard, progress) => buffer.dropUpTo(shard, progress) }
    plan.assignments.filterNot(a => isCurrent(a.shard, a.generation)).map(begin)
  }

  def all: Seq[ShardFetcher] = fetchers.toSeq.sortBy(_._1).map(_._2)

  def size: Int = fetchers.size

  /** Whether its shard is still this fetcher's. */
  def isCurrent(fetcher: ShardFetcher): Boolean = fetchers.get(fetcher.shard).exists(_ eq fetcher)

  def isCurrent(shard: StreamShard, generation: Long): Boolean =
    fetchers.get(shard).exists(_.generation == generation)

  def clear(): Unit = fetchers.clear()

  private def begin(assignment: Assignment): ShardFetcher = {
    // Pages that an earlier assignment read further are fetched again, and reported again.
    buffer.dropAfter(assignment.shard, assignment.from)
    val begun = fetcher(assignment)
    fetchers.update(assignment.shard, begun)
    begun
  }
}
