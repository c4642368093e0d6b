package sparkkinesis.client.aws.wire

/** Decodes base64 within an array, also to the place where it is. */
private[wire] object Base64Text {

  /** Four tables, so that the bits of four characters need no shift. Negative for other characters. */
  private val (first, second, third, fourth) = (table(18), table(12), table(6), table(0))

  private def table(shift: Int): Array[Int] = {
    val bits = Array.fill(256)(-1)
    (('A' to 'Z') ++ ('a' to 'z') ++ ('0' to '9') ++ Seq('+', '/')).zipWithIndex.foreach {
      case (char, value) => bits(char.toInt) = value << shift
    }
    bits
  }

  /**
   * Decodes groups of four characters, up to the first one that is not in the alphabet.
   *
   * @param to index for the first decoded byte; at most `from`
   * @return number of groups
   */
  def quads(bytes: Array[Byte], from: Int, until: Int, to: Int): Int = {
    val (a, b, c, d) = (first, second, third, fourth)
    var at = from
    var out = to
    var isInside = true
    while (isInside && at + 4 <= until) {
      val bits = a(bytes(at) & 0xff) | b(bytes(at + 1) & 0xff) |
        c(bytes(at + 2) & 0xff) | d(bytes(at + 3) & 0xff)
      if (bits < 0) isInside = false
      else {
        bytes(out) = (bits >> 16).toByte
        bytes(out + 1) = (bits >> 8).toByte
        bytes(out + 2) = bits.toByte
        at += 4
        out += 3
      }
    }
    (at - from) / 4
  }

  /**
   * Decodes the rest of a text to its end. Like Java's decoder, it accepts a text without padding.
   *
   * @return index after the last decoded byte
   */
  def last(bytes: Array[Byte], from: Int, until: Int, to: Int): Int = {
    val count = quads(bytes, from, until, to)
    val at = from + 4 * count
    val out = to + 3 * count
    val padding = if (until - at != 4) 0 else if (bytes(until - 2) == '=') 2 else 1
    if (padding > 0 && bytes(until - 1) != '=') throw ItemReader.Unsupported
    def bits(index: Int) = {
      val value = fourth(bytes(at + index) & 0xff)
      if (value < 0) throw ItemReader.Unsupported
      value
    }
    until - at - padding match {
      case 0 => out
      case 2 =>
        bytes(out) = (bits(0) << 2 | bits(1) >> 4).toByte
        out + 1
      case 3 =>
        val (high, low) = (bits(0) << 2 | bits(1) >> 4, bits(1) << 4 | bits(2) >> 2)
        bytes(out) = high.toByte
        bytes(out + 1) = low.toByte
        out + 2
      case _ => throw ItemReader.Unsupported
    }
  }
}
