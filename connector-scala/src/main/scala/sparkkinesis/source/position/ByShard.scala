package sparkkinesis.source.position

import sparkkinesis.model.ShardId

/**
 * What is said of a stream's shards.
 *
 * @param others of every shard that has nothing said of itself
 */
final case class ByShard[+A](others: A, named: Map[ShardId, A] = Map.empty[ShardId, Nothing]) {
  def of(shard: ShardId): A = named.getOrElse(shard, others)

  def all: Iterable[A] = named.values ++ Seq(others)
}
