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
    SequenceNumber.isValid(text),
    s"A sequence number is 1 to ${SequenceNumber.MaxDigits} decimal digits, not '$text'."
  )

  /** Compared as integers without building one: this runs once a record. */
  override def compare(that: SequenceNumber): Int = {
    val own = digits
    val other = that.digits
    val byLength = Integer.compare(own.length, other.length)
    if (byLength != 0) byLength else own.compareTo(other)
  }

  /** Without leading zeros, which the service does not send. */
  private def digits: String =
    if (text.charAt(0) != '0') text else text.dropWhile(_ == '0')

  /** Equal as numbers, like `compare`. */
  override def equals(other: Any): Boolean = other match {
    case that: SequenceNumber => compare(that) == 0
    case _ => false
  }

  override def hashCode: Int = digits.hashCode

  override def toString: String = text

  /**
   * The number of the shard it was given in, where it is of the layout that the service uses today:
   * 186 bits, of which the lowest four are a version and the next 32 the shard, whose lowest four
   * stand once more further up. Good for finding a mistake, and for nothing else.
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

object SequenceNumber {

  /** The API model's limit. */
  val MaxDigits = 128

  private val Bits = 186
  private val Version = 2L
  private val ShardAgain = 144

  /** A loop over primitives: this runs once a record. */
  private def isValid(text: String): Boolean = {
    var index = 0
    while (index < text.length && isDigit(text.charAt(index))) index += 1
    index == text.length && index > 0 && index <= MaxDigits
  }

  private def isDigit(c: Char): Boolean = c >= '0' && c <= '9'

  /** `None` where the text is not a sequence number. */
  def parse(text: String): Option[SequenceNumber] =
    if (isValid(text)) Some(SequenceNumber(text)) else None
}
