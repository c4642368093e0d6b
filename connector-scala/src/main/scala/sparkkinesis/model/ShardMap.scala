package sparkkinesis.model

import java.util.Arrays

/**
 * Which shard takes which records, as one listing of the stream told. The 128 bits of a hash key
 * come as two numbers without sign: this is asked for every record.
 */
final class ShardMap private (
    owners: Array[ShardId],
    hi: Array[Long],
    lo: Array[Long],
    listed: Map[ShardId, HashKeyRange]
) {

  /** Those that take records, in the order of their hash keys. */
  def shards: IndexedSeq[ShardId] = owners.toIndexedSeq

  /** Where among `shards` a hash key belongs. */
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

  /** The hash keys of any shard that was listed, a closed one too. */
  def range(shard: ShardId): Option[HashKeyRange] = listed.get(shard)

  override def equals(other: Any): Boolean = other match {
    case that: ShardMap => shards == that.shards && ranges == that.ranges
    case _ => false
  }

  override def hashCode: Int = ranges.hashCode

  private def ranges: Map[ShardId, HashKeyRange] = listed

  override def toString: String = s"ShardMap(${Arrays.toString(owners.map(_.name: AnyRef))})"
}

object ShardMap {

  /** Of a stream that spreads records over its shards by itself: all of them stand as one. */
  val Whole: ShardMap =
    new ShardMap(Array(ShardId("any shard")), Array(0L), Array(0L), Map.empty)

  /**
   * @param listed open and closed shards
   * @return `None` where no open shard is listed for some hash key, as may be for a moment of a
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
