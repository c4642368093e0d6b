package sparkkinesis.sink.rate

/**
 * What a shard accepted lately, as a fraction of its quota: in about the last second, or in about
 * the last 20 records if those took longer.
 *
 * @param start the current time, in milliseconds
 */
private[rate] final class AcceptedRate(start: Long) {
  import AcceptedRate._

  // Sums that fade.
  private var cost, seconds, records = 0.0
  private var at = start

  /** @param cost of the accepted records, in seconds of the quota */
  def add(cost: Double, sent: Int, now: Long): Unit = {
    val passed = math.max(0L, now - at) / 1000.0
    val kept = math.max(math.exp(-passed / Memory), math.min(1.0, Sample / math.max(records, 1e-9)))
    this.cost = this.cost * kept + cost
    seconds = seconds * kept + passed
    records = records * kept + sent
    at = math.max(at, now)
  }

  def value: Double = cost / math.max(seconds, 0.001)
}

private object AcceptedRate {

  /** The memory in seconds: the service defines its quotas per second. */
  private val Memory = 1.0

  /** The least sample of records, of which one record more or less is a twentieth. */
  private val Sample = 20.0
}
