package sparkkinesis.shard

import sparkkinesis.compat._

/**
 * How long things took: a histogram that can be added and subtracted. Durations of more than 16 ms
 * share a bucket with others that differ by up to a sixteenth.
 *
 * @param counts number of durations by bucket, without zeros
 */
private[sparkkinesis] final case class Durations(counts: Map[Int, Long]) {
  def +(that: Durations): Durations = combined(that, _ + _)

  def -(that: Durations): Durations = combined(that, _ - _)

  private def combined(that: Durations, change: (Long, Long) => Long): Durations =
    if (that.counts.isEmpty) this
    else {
      val buckets = (counts.keySet ++ that.counts.keySet).toSeq
      val all = buckets.map { bucket =>
        bucket -> change(counts.getOrElse(bucket, 0L), that.counts.getOrElse(bucket, 0L))
      }
      Durations(all.filter(_._2 != 0).toMap)
    }

  /** The median in milliseconds, rounded up to its bucket's end; `None` without durations. */
  def p50: Option[Long] = quantile(0.5)

  /** The 99th percentile in milliseconds, rounded up like the median. */
  def p99: Option[Long] = quantile(0.99)

  private def quantile(share: Double): Option[Long] = {
    val sorted = counts.toSeq.sortBy(_._1)
    val sums = sorted.scanLeft(0L)(_ + _._2).drop(1)
    sums.lastOption.map { all =>
      val rank = math.ceil(all * share).toLong
      Durations.endOf(sorted(sums.indexWhere(_ >= rank))._1)
    }
  }
}

private[sparkkinesis] object Durations {
  val Zero: Durations = Durations(Map.empty)

  private val Bits = 4
  private val Parts = 1 << Bits // of each power of two

  /** Number of buckets that [[bucketOf]] can return. */
  val Buckets: Int = (java.lang.Long.SIZE - Bits) * Parts

  /** @param count number of durations in a bucket */
  def of(count: Int => Long): Durations = Durations(
    Iterator.range(0, Buckets).map(it => it -> count(it)).filter(_._2 > 0).toMap
  )

  /** @param millis a duration. Less than zero, as clocks may say, counts as zero */
  def bucketOf(millis: Long): Int =
    if (millis < Parts) math.max(0L, millis).toInt
    else {
      val shift = java.lang.Long.SIZE - 1 - java.lang.Long.numberOfLeadingZeros(millis) - Bits
      (shift + 1) * Parts + ((millis >> shift) & (Parts - 1)).toInt
    }

  /** The longest duration of a bucket. */
  private def endOf(bucket: Int): Long =
    if (bucket < Parts) bucket.toLong
    else {
      val shift = bucket / Parts - 1
      ((Parts + bucket % Parts + 1L) << shift) - 1
    }
}
