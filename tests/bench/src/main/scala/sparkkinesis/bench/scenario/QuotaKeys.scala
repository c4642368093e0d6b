package sparkkinesis.bench.scenario

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{array, col, element_at, lit, when}

import sparkkinesis.model.{HashKey, HashKeyRange}

/**
 * Partition keys of numbered records, the same for the raw loop and the sink.
 *
 * @param shards number of shards with equal ranges; each gets the same number of even keys
 * @param isHot whether one more key has as many records as a shard has of the other keys
 * @param areOthersRandom whether only the hot key is given, and has the whole quota of its shard:
 *   the other rows have no key, and are as many as the other shards accept
 */
final case class QuotaKeys(shards: Int, isHot: Boolean, areOthersRandom: Boolean = false) {
  import QuotaKeys._

  private val ranges = HashKeyRange.even(shards)
  private def shardOf(key: String): Int = ranges.indexWhere(_.contains(HashKey.of(key)))

  /** The keys in their order, which repeats. */
  private val turns: Vector[String] = {
    val candidates = Iterator.from(0).map(n => f"key-$n%06d")
    val byShard = candidates.take(1000 * shards).toVector.groupBy(shardOf)
    (0 until KeysPerShard).flatMap { n =>
      ranges.indices.map(byShard(_)(n)) ++ (if (isHot) Seq(Hot) else Nil)
    }.toVector
  }

  def name: String =
    if (areOthersRandom) "a hot key beside rows without a key"
    else if (isHot) "a hot key"
    else "even keys"

  /** The key of the raw loop, which gives a row without a key one of a million keys. */
  def of(number: Int): String =
    if (!areOthersRandom) turns(number % turns.size)
    else if (number % shards == 0) Hot
    else f"key-${number * 7919L % 1000000}%06d"

  /** The keys for the column `id`. */
  def column: Column =
    if (areOthersRandom) when(col("id") % shards === 0, Hot)
    else element_at(array(turns.map(lit): _*), (col("id") % turns.size + 1).cast("int"))

  /** The shards with the most records: that of the hot key, or all. */
  def busiest: Seq[Int] = if (isHot && !areOthersRandom) Seq(shardOf(Hot)) else ranges.indices

  /** The other shards: all but that of the hot key. */
  def others: Seq[Int] = ranges.indices.diff(busiest)

  /** The fraction of all records that a shard without the hot key receives. */
  def shareOfShard: Double = 1.0 / (if (isHot && !areOthersRandom) shards + 1 else shards)
}

object QuotaKeys {

  /** The length of each key. */
  val KeyLength = 10
  private val KeysPerShard = 16
  private val Hot = "key-is-hot"
}
