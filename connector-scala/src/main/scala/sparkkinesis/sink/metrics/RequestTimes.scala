package sparkkinesis.sink.metrics

/**
 * A histogram of how long requests took. Exact up to 16 ms; above that, to one sixteenth.
 *
 * @param counts number of requests per slot of time, without empty slots at the end
 */
final case class RequestTimes(counts: Vector[Long]) {
  import RequestTimes._

  /**
   * The milliseconds within which a fraction of all requests ended, rounded up to the end of a slot;
   * 0 without requests.
   *
   * @param fraction more than 0 and at most 1
   */
  def percentile(fraction: Double): Long = {
    val wanted = math.ceil(counts.sum * fraction).toLong
    var (slot, passed) = (0, 0L)
    while (slot < counts.size && passed + counts(slot) < wanted) {
      passed += counts(slot)
      slot += 1
    }
    if (wanted == 0) 0 else longest(slot)
  }

  def +(other: RequestTimes): RequestTimes =
    RequestTimes(counts.zipAll(other.counts, 0L, 0L).map { case (a, b) => a + b })
}

object RequestTimes {
  val None: RequestTimes = RequestTimes(Vector.empty)

  private val Fine = 16
  private val FineBits = 4
  private val Slots = 512

  /** Counts requests. Not thread-safe. */
  private[sink] final class Recorder {
    private val counts = new Array[Long](Slots)
    private var used = 0

    def add(millis: Long): Unit = {
      val at = slot(math.max(0L, millis))
      counts(at) += 1
      used = math.max(used, at + 1)
    }

    def result: RequestTimes = RequestTimes(counts.iterator.take(used).toVector)
  }

  private def slot(millis: Long): Int =
    if (millis < Fine) millis.toInt
    else {
      val shift = 63 - java.lang.Long.numberOfLeadingZeros(millis) - FineBits
      math.min(Slots - 1L, Fine.toLong * shift + (millis >> shift)).toInt
    }

  /** The longest time that belongs to a slot. */
  private def longest(slot: Int): Long =
    if (slot < Fine) slot.toLong
    else {
      val shift = slot / Fine - 1
      ((slot % Fine + Fine + 1L) << shift) - 1
    }
}
