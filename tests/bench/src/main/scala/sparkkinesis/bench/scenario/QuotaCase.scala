package sparkkinesis.bench.scenario

import sparkkinesis.bench.scenario.QuotaCase._
import sparkkinesis.bench.sizing.Load

/**
 * One case of records and write options.
 *
 * @param size bytes of a row's data
 */
final case class QuotaCase(size: Int, shards: Int, keys: QuotaKeys, mode: Mode) {

  /** As many rows as fill each shard without the hot key for that time. */
  def load(seconds: Int): Load = {
    val row = size + (if (mode.isAggregated) RowInAggregate else QuotaKeys.KeyLength)
    val perSecond =
      if (mode.isAggregated) QuotaUse.BytesPerSecond / row else QuotaUse.perSecond(row)
    loadOf(perSecond * seconds)
  }

  /** The same for plain records. */
  def rawLoad(seconds: Int): Load =
    loadOf(QuotaUse.perSecond(size + QuotaKeys.KeyLength) * seconds)

  private def loadOf(ofShard: Double) = Load((ofShard / keys.shareOfShard).toInt, size)

  override def toString: String = {
    val many = if (shards == 1) "1 shard" else s"$shards shards"
    (Seq(Load.short(size.toLong), many, keys.name) ++ mode.name).mkString(", ")
  }
}

object QuotaCase {

  /**
   * How the sink writes. The raw loop always writes the same way.
   *
   * @param goal lower bound for the used part of the quota
   */
  final case class Mode(name: Option[String], options: Map[String, String], goal: Double) {
    def isAggregated: Boolean = options.contains("aggregation")
  }

  private val Plain = Mode(None, Map.empty, 0.98)
  private val Ordered = Mode(Some("ordered"), Map("ordering" -> "perKey"), 0.9)
  private val Aggregated = Mode(Some("aggregated"), Map("aggregation" -> "kpl"), 0.9)
  private val Both =
    Mode(Some("aggregated and ordered"), Aggregated.options ++ Ordered.options, 0.9)

  /** Estimated bytes of a row in an aggregate besides its data. There are only a few keys. */
  private val RowInAggregate = 10

  private def even(size: Int, shards: Int, mode: Mode) =
    QuotaCase(size, shards, QuotaKeys(shards, isHot = false), mode)

  /**
   * Records of 1,000 bytes are limited by the quota of records, larger ones by the quota of bytes.
   */
  val All: Seq[QuotaCase] = Seq(
    even(1000, 1, Plain),
    even(1000, 8, Plain),
    QuotaCase(1000, 8, QuotaKeys(8, isHot = true), Plain),
    QuotaCase(1000, 8, QuotaKeys(8, isHot = true, areOthersRandom = true), Plain),
    even(10000, 8, Plain),
    even(1000, 1, Ordered),
    even(1000, 8, Ordered),
    even(50, 1, Aggregated),
    even(50, 8, Aggregated),
    even(50, 1, Both),
    even(50, 8, Both)
  )
}
