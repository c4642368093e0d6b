package sparkkinesis.bench.scenario

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{array, col, element_at, lit}

import sparkkinesis.model.{HashKey, HashKeyRange}

/**
 * Partition keys of numbered records, the same for the raw loop and the sink.
 *
 * @param shards with even ranges of hash keys; each gets as many of the even keys
 * @param isHot whether one key's records come on top, as many as a shard has of the others
 */
final case class QuotaKeys(shards: Int, isHot: Boolean) {
  import QuotaKeys._

  private val ranges = HashKeyRange.even(shards)
  private def shardOf(key: String): Int = ranges.indexWhere(_.contains(HashKey.of(key)))

  /** One after the other, and again from the first. */
  private val turns: Vector[String] = {
    val candidates = Iterator.from(0).map(n => f"key-$n%06d")
    val byShard = candidates.take(1000 * shards).toVector.groupBy(shardOf)
    (0 until KeysPerShard).flatMap { n =>
      ranges.indices.map(byShard(_)(n)) ++ (if (isHot) Seq(Hot) else Nil)
    }.toVector
  }

  def name: String = if (isHot) "a hot key" else "even keys"

  def of(number: Int): String = turns(number % turns.size)

  /** The same of the column `id`. */
  def column: Column =
    element_at(array(turns.map(lit): _*), (col("id") % turns.size + 1).cast("int"))

  /** The shards that get most: the hot key's, or all of them. */
  def busiest: Seq[Int] = if (isHot) Seq(shardOf(Hot)) else ranges.indices

  /** The shards that get as much as the least busy one: all but the hot key's. */
  def others: Seq[Int] = if (isHot) ranges.indices.diff(busiest) else Nil

  /** Of all records, those for a shard without the hot key. */
  def shareOfShard: Double = 1.0 / (if (isHot) shards + 1 else shards)
}

object QuotaKeys {

  /** All keys have that length. */
  val KeyLength = 10
  private val KeysPerShard = 16
  private val Hot = "key-is-hot"
}
