package sparkkinesis.shard.pace

/**
 * Whether the service limits how fast a stream is read. AWS does; some local servers do not, and an
 * endpoint that is not one of AWS may still lead to AWS. Thread-safe.
 *
 * It decides once: a stream that is limited stays so, without repeated refusals.
 *
 * @param isAws whether the endpoint is one of AWS
 */
private[pace] final class QuotaEvidence(isAws: Boolean) {
  import QuotaEvidence._

  @volatile private var limited = isAws
  private var balance = 0 // above zero: there is probably no quota

  def isLimited: Boolean = limited

  /** @param debt seconds of the quota that were used in advance when the call began */
  def answered(debt: Double): Unit =
    if (!limited && debt > Clear) synchronized { balance = math.min(MostFor, balance + 1) }

  /** A refusal counts most if this executor's own reading explains it. */
  def refused(debt: Double): Unit = if (!limited) synchronized {
    balance -= (if (debt > 0) Explained else Unexplained)
    if (balance <= Limit) limited = true
  }
}

private object QuotaEvidence {

  /** The least debt that is clear, in seconds. A smaller debt may be an error of measurement. */
  private val Clear = 0.3

  private val MostFor = 20
  private val Explained = 5
  private val Unexplained = 1
  private val Limit = -3
}
