package sparkkinesis.client.aws.wire

import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.switch

/**
 * The rest of a text in JSON that begins at an escape. It becomes UTF-8 where it is.
 *
 * @param begin index of the escape
 * @param until index after the last byte that may be read
 */
private[wire] final class EscapedText(bytes: Array[Byte], begin: Int, until: Int) {
  import ItemReader.Unsupported

  /** Index of the next byte. After `read`, of the quote at the end of the text. */
  var at: Int = begin

  /** Index after the last byte of what was read. */
  var end: Int = begin

  def read(): Unit =
    while (next != '"') {
      if (bytes(at) == '\\') readEscape()
      else put(bytes(at))
      at += 1
    }

  /** Ends at the last byte of the escape. */
  private def readEscape(): Unit = {
    at += 1
    (next: @switch) match {
      case '"' | '\\' | '/' => put(bytes(at))
      case 'b' => put('\b'.toByte)
      case 'f' => put('\f'.toByte)
      case 'n' => put('\n'.toByte)
      case 'r' => put('\r'.toByte)
      case 't' => put('\t'.toByte)
      case 'u' => readUnicode()
      case _ => throw Unsupported
    }
  }

  private def readUnicode(): Unit = {
    val first = readHex()
    val isPair = first.isHighSurrogate && at + 2 < until && bytes(at + 1) == '\\' &&
      bytes(at + 2) == 'u'
    if (isPair) at += 2
    val chars = if (isPair) Array(first, readHex()) else Array(first)
    // A half of a pair becomes `?`, as in Java.
    new String(chars).getBytes(UTF_8).foreach(put)
  }

  /** Reads an escape from the `u` to its last digit. */
  private def readHex(): Char = {
    var value = 0
    var left = 4
    while (left > 0) {
      at += 1
      val digit = Character.digit(next, 16)
      if (digit < 0) throw Unsupported
      value = value << 4 | digit
      left -= 1
    }
    value.toChar
  }

  private def next: Int = {
    if (at >= until) throw Unsupported
    bytes(at).toInt
  }

  private def put(byte: Byte): Unit = {
    bytes(end) = byte
    end += 1
  }
}
