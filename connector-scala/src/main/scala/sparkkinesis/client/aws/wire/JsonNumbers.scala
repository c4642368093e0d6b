package sparkkinesis.client.aws.wire

/**
 * Reads numbers of JSON as whole ones.
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
    val isNegative = here == '-'
    if (isNegative) at += 1
    var value = 0L
    var digits = 0
    var power = scale
    var isFraction = false
    while (at < until && (isDigit(bytes(at)) || bytes(at) == '.' && !isFraction)) {
      if (bytes(at) == '.') isFraction = true
      else {
        digits += 1
        if (value < MostBeforeDigit) {
          value = value * 10 + (bytes(at) - '0')
          if (isFraction) power -= 1
        } else if (!isFraction) throw Unsupported
      }
      at += 1
    }
    if (digits == 0) throw Unsupported
    val scaled = shifted(value, power + exponent())
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

  private def exponent(): Int =
    if (at < until && (bytes(at) | 0x20) == 'e') {
      at += 1
      val sign = here
      if (sign == '-' || sign == '+') at += 1
      var value = 0
      val begin = at
      while (at < until && isDigit(bytes(at))) {
        if (value < MostExponent) value = value * 10 + (bytes(at) - '0')
        at += 1
      }
      if (at == begin) throw Unsupported
      if (sign == '-') -value else value
    } else 0

  private def here: Int = {
    if (at >= until) throw Unsupported
    bytes(at).toInt
  }
}

private object JsonNumbers {

  /** A number below it has room for one more digit. */
  private val MostBeforeDigit = 100000000000000000L
  private val MostExponent = 1000
  private val Powers: Array[Long] = Array.iterate(1L, 19)(_ * 10)

  private def isDigit(byte: Byte): Boolean = byte >= '0' && byte <= '9'

  private def isPart(byte: Byte): Boolean =
    isDigit(byte) || byte == '-' || byte == '+' || byte == '.' || (byte | 0x20) == 'e'

  private def shifted(value: Long, power: Int): Long =
    if (power >= 0) {
      var (result, left) = (value, power)
      while (left > 0 && result != 0) {
        if (result > MostBeforeDigit) throw ItemReader.Unsupported
        result *= 10
        left -= 1
      }
      result
    } else if (power < -18) 0
    else value / Powers(-power)
}
