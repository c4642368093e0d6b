package sparkkinesis.bench

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{array, col, element_at, lit, when}

import sparkkinesis.model.{HashKey, HashKeyRange}

/**
 * Partition keys of numbered records, the same for the raw loop and the sink.
 *
 * @param shards with even ranges of hash keys; each gets as many of the even keys
 * @param isHot whether every second record has one and the same key
 */
final case class QuotaKeys(shards: Int, isHot: Boolean) {
  import QuotaKeys._

  private val even: Vector[String] = {
    val ranges = HashKeyRange.even(shards)
    val candidates = Iterator.from(0).map(n => f"key-$n%06d")
    val byShard = candidates.take(1000 * shards).toVector.groupBy { key =>
      ranges.indexWhere(_.contains(HashKey.of(key)))
    }
    (0 until KeysPerShard).flatMap(n => ranges.indices.map(byShard(_)(n))).toVector
  }

  def name: String = if (isHot) "half hot" else "even"

  def of(number: Int): String =
    if (isHot && number % 2 == 0) Hot else even((number / step) % even.size)

  /** The same of the column `id`. */
  def column: Column = {
    val id = col("id")
    val spread = element_at(
      array(even.map(lit): _*),
      ((id / step).cast("int") % even.size + 1).cast("int")
    )
    if (isHot) when(id % 2 === 0, lit(Hot)).otherwise(spread) else spread
  }

  /** The shards that are to be full: the hot key's, or all of them. */
  def busiest: Seq[Int] =
    if (isHot) Seq(HashKeyRange.even(shards).indexWhere(_.contains(HashKey.of(Hot))))
    else 0 until shards

  def shareOfBusiest: Double = if (isHot) 0.5 + 0.5 / shards else 1.0 / shards

  /** Every second number has the hot key: the others take the even keys in turn. */
  private def step = if (isHot) 2 else 1
}

object QuotaKeys {

  /** All keys have that length. */
  val KeyLength = 10
  private val KeysPerShard = 16
  private val Hot = "key-is-hot"
}
