package sparkkinesis.source.plan

import sparkkinesis.model.StreamShard
import sparkkinesis.source.protocol.Frontier

/**
 * What executors have found in a query's shards after the last planned batch. One more report costs
 * nothing per shard, so that a query can have many thousands of shards without records.
 *
 * @param frontiers of the shards that were looked at
 * @param fresh the shards with marks: something that a batch can take
 * @param behind number of shards that are behind their tip
 */
private[sparkkinesis] final case class Found(
    frontiers: Map[StreamShard, Frontier],
    fresh: Set[StreamShard],
    behind: Int
) {
  def updated(shard: StreamShard, frontier: Frontier): Found = Found(
    frontiers.updated(shard, frontier),
    if (frontier.marks.nonEmpty) fresh + shard else fresh - shard,
    behind - count(frontiers.get(shard)) + count(Some(frontier))
  )

  private def count(frontier: Option[Frontier]) = frontier.count(_.isBehind)
}

private[sparkkinesis] object Found {
  def of(frontiers: Map[StreamShard, Frontier]): Found = Found(
    frontiers,
    frontiers.collect { case (shard, frontier) if frontier.marks.nonEmpty => shard }.toSet,
    frontiers.valuesIterator.count(_.isBehind)
  )
}
