package sparkkinesis.model

import sparkkinesis.compat._

/** The ID of a shard, such as `shardId-000000000002`. */
private[sparkkinesis] final case class ShardId(name: String) extends Ordered[ShardId] {
  override def compare(that: ShardId): Int = name.compareTo(that.name)
  override def toString: String = name

  /** The number in the name. `None` if the name does not have the format of the service. */
  def number: Option[Long] = name match {
    case ShardId.Pattern(digits) => digits.toLongOption
    case _ => None
  }
}

private[sparkkinesis] object ShardId {
  private val Pattern = "shardId-(\\d{12})".r
}

/**
 * A sequence of records with a fixed range of hash keys, as in `ListShards`.
 *
 * @param parents no shard, one (after a split) or two (after a merge); they may no longer be listed
 * @param first lowest possible sequence number
 * @param last highest possible sequence number of a closed shard
 */
private[sparkkinesis] final case class Shard(
    id: ShardId,
    parents: Seq[ShardId],
    hashKeys: HashKeyRange,
    first: SequenceNumber,
    last: Option[SequenceNumber]
) {
  def isOpen: Boolean = last.isEmpty
}

/** A shard after a split or merge, as in the last page of its parent. */
private[sparkkinesis] final case class ChildShard(
    id: ShardId,
    parents: Seq[ShardId],
    hashKeys: HashKeyRange
)
