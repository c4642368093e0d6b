package sparkkinesis.model

import java.util.Arrays

/**
 * The open shards of one listing by hash key. A hash key is in the form of [[HashKeyBits]], because
 * `indexOf` runs for every record.
 */
private[sparkkinesis] final class ShardMap private (
    owners: Array[ShardId],
    hi: Array[Long],
    lo: Array[Long],
    listed: Map[ShardId, HashKeyRange]
) {

  /** The open shards, in the order of their hash keys. */
  def shards: IndexedSeq[ShardId] = owners.toIndexedSeq

  /** Index in `shards` of the shard for a hash key. */
  def indexOf(keyHi: Long, keyLo: Long): Int = {
    var low = 0
    var high = owners.length - 1
    while (low < high) {
      val middle = (low + high + 1) >>> 1
      val isAfter = HashKeyBits.compare(hi(middle), lo(middle), keyHi, keyLo) > 0
      if (isAfter) high = middle - 1 else low = middle
    }
    low
  }

  /** The hash keys of an open or closed shard in the listing. */
  def range(shard: ShardId): Option[HashKeyRange] = listed.get(shard)

  override def equals(other: Any): Boolean = other match {
    case that: ShardMap => shards == that.shards && ranges == that.ranges
    case _ => false
  }

  override def hashCode: Int = ranges.hashCode

  private def ranges: Map[ShardId, HashKeyRange] = listed

  override def toString: String = s"ShardMap(${Arrays.toString(owners.map(_.name: AnyRef))})"
}

private[sparkkinesis] object ShardMap {

  /** The map of a stream with the distribution `AUTO`: one shard that stands for all. */
  val Whole: ShardMap =
    new ShardMap(Array(ShardId("any shard")), Array(0L), Array(0L), Map.empty)

  /**
   * @param listed open and closed shards
   * @return `None` if some hash key has no open shard in the listing, which may happen during a
   *   reshard
   */
  def of(listed: Seq[Shard]): Option[ShardMap] = {
    val parents = listed.iterator.flatMap(_.parents).toSet
    val open = listed.filter(it => it.isOpen && !parents(it.id)).sortBy(_.hashKeys.first)
    if (!isWhole(open.map(_.hashKeys))) None
    else {
      val first = open.map(_.hashKeys.first)
      val ranges = listed.map(it => it.id -> it.hashKeys).toMap
      Some(
        new ShardMap(
          open.map(_.id).toArray,
          first.map(HashKeyBits.hi).toArray,
          first.map(HashKeyBits.lo).toArray,
          ranges
        )
      )
    }
  }

  private def isWhole(ranges: Seq[HashKeyRange]): Boolean =
    ranges.nonEmpty && ranges.head.first == HashKey.Min && ranges.last.last == HashKey.Max &&
      ranges.zip(ranges.tail).forall { case (one, next) => one.isAdjacentTo(next) }
}
