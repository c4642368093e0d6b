package sparkkinesis.source.position

import sparkkinesis.model.ShardId

/**
 * A value for each of a stream's shards.
 *
 * @param others the value of every shard that `named` lacks
 */
private[sparkkinesis] final case class ByShard[+A](
    others: A,
    named: Map[ShardId, A] = Map.empty[ShardId, Nothing]
) {
  def of(shard: ShardId): A = named.getOrElse(shard, others)

  def all: Seq[A] = (named.values ++ Seq(others)).toSeq
}
