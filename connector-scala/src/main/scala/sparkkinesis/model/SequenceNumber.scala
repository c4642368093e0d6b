package sparkkinesis.model

/**
 * The number that Kinesis assigns to a record: decimal digits, compared as an integer, and printed
 * as received.
 *
 * Sequence numbers are ordered in time only within a shard
 * ([[https://docs.aws.amazon.com/streams/latest/dev/key-concepts.html Kinesis concepts]]).
 *
 * @param text 1 to 128 decimal digits
 */
private[sparkkinesis] final case class SequenceNumber(text: String)
    extends Ordered[SequenceNumber] {
  require(
    SequenceNumber.isValid(text),
    s"A sequence number has 1 to ${SequenceNumber.MaxDigits} decimal digits. It is not '$text'."
  )

  /** Compares as integers without creating one, because it runs once per record. */
  override def compare(that: SequenceNumber): Int = {
    val own = digits
    val other = that.digits
    val byLength = Integer.compare(own.length, other.length)
    if (byLength != 0) byLength else own.compareTo(other)
  }

  /** The text without leading zeros, which the service does not send. */
  private[model] def digits: String =
    if (text.charAt(0) != '0') text else text.dropWhile(_ == '0')

  /** Compares as integers, like `compare`. */
  override def equals(other: Any): Boolean = other match {
    case that: SequenceNumber => compare(that) == 0
    case _ => false
  }

  override def hashCode: Int = digits.hashCode

  override def toString: String = text

  /**
   * The number of the shard that assigned it. `None` if it does not have the layout that the
   * service uses today: 186 bits; the lowest four are a version, the next 32 the shard, and four
   * higher bits repeat the lowest four of the shard. Only suitable for detecting a mistake of the
   * user.
   */
  def shardNumber: Option[Long] = {
    val value = BigInt(text)
    def bits(from: Int, mask: Long): Long = ((value >> from) & mask).toLong
    Option(bits(4, 0xffffffffL)).filter { shard =>
      value.bitLength == SequenceNumber.Bits && bits(0, 0xf) == SequenceNumber.Version &&
      bits(SequenceNumber.ShardAgain, 0xf) == (shard & 0xf)
    }
  }
}

private[sparkkinesis] object SequenceNumber {

  /** The limit in the API. */
  val MaxDigits = 128

  private val Bits = 186
  private val Version = 2L
  private val ShardAgain = 144

  /** A loop over primitives, because it runs once per record. */
  private def isValid(text: String): Boolean = {
    var index = 0
    while (index < text.length && isDigit(text.charAt(index))) index += 1
    index == text.length && index > 0 && index <= MaxDigits
  }

  private def isDigit(c: Char): Boolean = c >= '0' && c <= '9'

  /** `None` if the text is not a sequence number. */
  def parse(text: String): Option[SequenceNumber] =
    if (isValid(text)) Some(SequenceNumber(text)) else None
}
