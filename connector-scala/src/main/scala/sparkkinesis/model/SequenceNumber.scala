package sparkkinesis.model

/**
 * What Kinesis gives a record: decimal digits, compared as an integer, printed exactly as received.
 *
 * Only numbers of one shard are ordered in time
 * ([[https://docs.aws.amazon.com/streams/latest/dev/key-concepts.html Kinesis concepts]]).
 *
 * @param text at most 128 decimal digits, as the service sent them
 */
final case class SequenceNumber(text: String) extends Ordered[SequenceNumber] {
  require(
    text.nonEmpty && text.length <= SequenceNumber.MaxDigits && text.forall(SequenceNumber.isDigit),
    s"A sequence number is 1 to ${SequenceNumber.MaxDigits} decimal digits, not '$text'."
  )

  /** Compared as integers without building one: this runs once a record. */
  override def compare(that: SequenceNumber): Int = {
    val (skipped, thatSkipped) = (leadingZeros, that.leadingZeros)
    val byLength = Integer.compare(text.length - skipped, that.text.length - thatSkipped)
    if (byLength != 0) byLength
    else text.substring(skipped).compareTo(that.text.substring(thatSkipped))
  }

  private def leadingZeros: Int = {
    val first = text.indexWhere(_ != '0')
    if (first < 0) text.length else first
  }

  /** Equal as numbers, like `compare`. */
  override def equals(other: Any): Boolean = other match {
    case that: SequenceNumber => compare(that) == 0
    case _ => false
  }

  override def hashCode: Int = text.substring(leadingZeros).hashCode

  override def toString: String = text
}

object SequenceNumber {
  private val MaxDigits = 128 // the API model's limit

  private def isDigit(c: Char): Boolean = c >= '0' && c <= '9'

  /** `None` where the text is not a sequence number. */
  def parse(text: String): Option[SequenceNumber] =
    if (text.nonEmpty && text.length <= MaxDigits && text.forall(isDigit))
      Some(SequenceNumber(text))
    else None
}
