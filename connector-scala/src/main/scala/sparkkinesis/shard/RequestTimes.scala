package sparkkinesis.shard

import sparkkinesis.compat._

/**
 * How long requests took: a histogram that can be added and subtracted. Durations of more than 16
 * ms share a bucket with others that differ by up to a sixteenth.
 *
 * @param counts number of requests by bucket, without zeros
 */
final case class RequestTimes(counts: Map[Int, Long]) {
  def +(that: RequestTimes): RequestTimes = combined(that, _ + _)

  def -(that: RequestTimes): RequestTimes = combined(that, _ - _)

  private def combined(that: RequestTimes, change: (Long, Long) => Long): RequestTimes =
    if (that.counts.isEmpty) this
    else {
      val buckets = (counts.keySet ++ that.counts.keySet).toSeq
      val all = buckets.map { bucket =>
        bucket -> change(counts.getOrElse(bucket, 0L), that.counts.getOrElse(bucket, 0L))
      }
      RequestTimes(all.filter(_._2 != 0).toMap)
    }

  /**
   * The 99th percentile in milliseconds, rounded up to its bucket's end; `None` without requests.
   */
  def p99: Option[Long] = {
    val sorted = counts.toSeq.sortBy(_._1)
    val sums = sorted.scanLeft(0L)(_ + _._2).drop(1)
    sums.lastOption.map { all =>
      val rank = math.ceil(all * 0.99).toLong
      RequestTimes.endOf(sorted(sums.indexWhere(_ >= rank))._1)
    }
  }
}

object RequestTimes {
  val Zero: RequestTimes = RequestTimes(Map.empty)

  private val Bits = 4
  private val Parts = 1 << Bits // of each power of two

  /** Number of buckets that [[bucketOf]] can return. */
  val Buckets: Int = (java.lang.Long.SIZE - Bits) * Parts

  /** @param count number of requests in a bucket */
  def of(count: Int => Long): RequestTimes = RequestTimes(
    Iterator.range(0, Buckets).map(it => it -> count(it)).filter(_._2 > 0).toMap
  )

  /** @param millis a duration, not negative */
  def bucketOf(millis: Long): Int =
    if (millis < Parts) millis.toInt
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
