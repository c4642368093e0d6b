package sparkkinesis.client.aws.wire

/**
 * Reads numbers of JSON as whole ones. A number of more than 18 digits is not supported.
 *
 * @param until index after the last byte that may be read
 */
private[wire] final class JsonNumbers(bytes: Array[Byte], until: Int) {
  import ItemReader.Unsupported
  import JsonNumbers._

  private var at = 0

  /** Index after the last number. */
  def end: Int = at

  /**
   * The number times ten to the power of `scale`, without the rest of its fraction.
   *
   * @param begin index of its first byte
   */
  def read(begin: Int, scale: Int): Long = {
    at = begin
    val isNegative = passes('-')
    var value = digits(0)
    var power = scale
    if (passes('.')) {
      val point = at
      value = digits(value)
      power -= at - point
    }
    if (passes('E') || passes('e')) power += exponent()
    val scaled = shifted(value, power)
    if (isNegative) -scaled else scaled
  }

  /**
   * Skips a number, however large.
   *
   * @param begin index of its first byte
   */
  def skip(begin: Int): Unit = {
    at = begin
    var hasDigit = false
    while (at < until && isPart(bytes(at))) {
      hasDigit |= isDigit(bytes(at))
      at += 1
    }
    if (!hasDigit) throw Unsupported
  }

  private def exponent(): Int = {
    val isNegative = passes('-')
    if (!isNegative) passes('+'): Unit
    val value = math.min(digits(0), MostExponent).toInt
    if (isNegative) -value else value
  }

  private def passes(sign: Char): Boolean = {
    val isHere = at < until && bytes(at) == sign
    if (isHere) at += 1
    isHere
  }

  /** @param before the number that the digits before these make */
  private def digits(before: Long): Long = {
    val begin = at
    var value = before
    while (at < until && isDigit(bytes(at))) {
      if (value >= MostBeforeDigit) throw Unsupported
      value = value * 10 + (bytes(at) - '0')
      at += 1
    }
    if (at == begin) throw Unsupported
    value
  }
}

private object JsonNumbers {

  /** A number below it has room for one more digit. */
  private val MostBeforeDigit = 100000000000000000L
  private val MostExponent = 1000L
  private val Powers: Array[Long] = Array.iterate(1L, 19)(_ * 10)

  private def isDigit(byte: Byte): Boolean = byte >= '0' && byte <= '9'

  private def isPart(byte: Byte): Boolean =
    isDigit(byte) || byte == '-' || byte == '+' || byte == '.' || (byte | 0x20) == 'e'

  private def shifted(value: Long, power: Int): Long =
    if (value == 0 || power <= -Powers.length) 0
    else if (power < 0) value / Powers(-power)
    else if (power >= Powers.length || value > Long.MaxValue / Powers(power))
      throw ItemReader.Unsupported
    else value * Powers(power)
}
