package sparkkinesis.model

import sparkkinesis.compat._

/** A shard's name, such as `shardId-000000000002`. */
final case class ShardId(name: String) extends Ordered[ShardId] {
  override def compare(that: ShardId): Int = name.compareTo(that.name)
  override def toString: String = name

  /** The service counts a stream's shards; `None` where the name is not of its kind. */
  def number: Option[Long] = name match {
    case ShardId.Pattern(digits) => digits.toLongOption
    case _ => None
  }
}

object ShardId {
  private val Pattern = "shardId-(\\d{12})".r
}

/**
 * A sequence of records with a fixed share of the hash key space, as `ListShards` gives it.
 *
 * @param parents none, one (of a split) or two (of a merge); may name shards no longer listed
 * @param first the lowest sequence number it can hold
 * @param last the highest, once it is closed
 */
final case class Shard(
    id: ShardId,
    parents: Seq[ShardId],
    hashKeys: HashKeyRange,
    first: SequenceNumber,
    last: Option[SequenceNumber]
) {
  def isOpen: Boolean = last.isEmpty
}

/** A shard that follows another after a split or merge, as the last page of its parent names it. */
final case class ChildShard(id: ShardId, parents: Seq[ShardId], hashKeys: HashKeyRange)
