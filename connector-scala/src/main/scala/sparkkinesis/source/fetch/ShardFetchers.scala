package sparkkinesis.source.fetch

import java.time.Instant

import scala.collection.mutable

import sparkkinesis.compat._
import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol.{Assignment, FetchPlan}
import sparkkinesis.source.store.PageStore

/**
 * The fetchers of an executor, and the pages in its store, as the driver's plans require them. Has
 * no threads; used by one thread at a time.
 *
 * @param create a fetcher for an assignment
 */
final class ShardFetchers(store: PageStore, create: Assignment => ShardFetcher) {
  private val fetchers = mutable.Map.empty[StreamShard, ShardFetcher]

  /**
   * Drops fetchers and pages that the plan does not contain.
   *
   * @return the new fetchers
   */
  def apply(plan: FetchPlan): Seq[ShardFetcher] = {
    val assigned = plan.assignments.map(_.shard).toSet
    fetchers.keySet.diff(assigned).foreach { shard =>
      fetchers.remove(shard).foreach(_.close())
      store.forget(shard)
    }
    store.shards.filterNot(id => assigned(id) || plan.processed.contains(id)).foreach(store.drop)
    plan.processed.foreach { case (shard, progress) => store.dropUpTo(shard, progress) }
    plan.assignments.filterNot(a => isCurrent(a.shard, a.generation)).map(add)
  }

  /** Sorted by shard. */
  def all: Seq[ShardFetcher] = fetchers.toSeq.sortBy(_._1).map(_._2)

  def size: Int = fetchers.size

  /** Whether no other fetcher has read less, by the arrival times. */
  def isOldest(fetcher: ShardFetcher): Boolean =
    !fetchers.valuesIterator.exists(it => !it.isEnded && Age.lt(it.age, fetcher.age))

  /** The fetcher that has read least, by the arrival times. */
  def oldest: Option[ShardFetcher] =
    fetchers.valuesIterator.filterNot(_.isEnded).toVector.minByOption(_.age)(Age)

  /** Whether this fetcher still reads its shard. */
  def isCurrent(fetcher: ShardFetcher): Boolean = fetchers.get(fetcher.shard).exists(_ eq fetcher)

  def isCurrent(shard: StreamShard, generation: Long): Boolean =
    fetchers.get(shard).exists(_.generation == generation)

  def clear(): Unit = {
    fetchers.values.foreach(_.close())
    fetchers.clear()
  }

  private val Age = Ordering.Tuple2[Instant, StreamShard]

  private def add(assignment: Assignment): ShardFetcher = {
    // The new fetcher reads and reports again what an earlier assignment read after this progress.
    store.dropAfter(assignment.shard, assignment.from)
    val added = create(assignment)
    fetchers.put(assignment.shard, added).foreach(_.close())
    added
  }
}
