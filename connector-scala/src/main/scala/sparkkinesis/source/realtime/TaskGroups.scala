package sparkkinesis.source.realtime

import scala.collection.immutable.SortedSet

import sparkkinesis.model.StreamShard

/**
 * Shares out shards over the tasks of a batch. A shard stays in its group from batch to batch,
 * because its executor reads it on. It moves only if its group has more than an even share.
 */
private[sparkkinesis] object TaskGroups {

  /**
   * @param before the groups of the batch before
   * @param shards that the batch reads
   * @param most largest number of groups, at least 1
   * @return groups without shards are left out
   */
  def of(
      before: Vector[SortedSet[StreamShard]],
      shards: Set[StreamShard],
      most: Int
  ): Vector[SortedSet[StreamShard]] = {
    val count = math.max(1, math.min(most, shards.size))
    val kept =
      before.map(_.intersect(shards)).sortBy(-_.size).padTo(count, SortedSet.empty[StreamShard])
    // The smallest groups are given up if there are fewer now.
    val (least, larger) = (shards.size / count, shards.size % count)
    val staying = kept.take(count).zipWithIndex.map { case (group, index) =>
      group.take(if (index < larger) least + 1 else least)
    }
    shards.diff(staying.flatten.toSet).toVector.sorted.foldLeft(staying)(added).filter(_.nonEmpty)
  }

  private def added(
      groups: Vector[SortedSet[StreamShard]],
      shard: StreamShard
  ): Vector[SortedSet[StreamShard]] = {
    val smallest = groups.indices.minBy(index => (groups(index).size, index))
    groups.updated(smallest, groups(smallest) + shard)
  }
}
