package sparkkinesis.client.aws.wire

import java.nio.ByteBuffer

/**
 * Reads the items of JSON ([[https://www.rfc-editor.org/rfc/rfc8259 RFC 8259]]) in UTF-8. A blob is
 * a text in base64. A text with an escape is not supported, because it is not in the bytes.
 *
 * @param from index of the first byte
 * @param until index after the last byte
 */
private[aws] final class JsonReader(bytes: Array[Byte], from: Int, until: Int)
    extends ItemReader(bytes) {
  import ItemReader._
  import JsonReader._

  private val words = ByteBuffer.wrap(bytes)
  private val numbers = new JsonNumbers(bytes, until)
  private var nesting = 0L // a bit for each open map or array: whether it is a map
  private var depth = 0
  at = from

  override def isAtEnd: Boolean = {
    skipSpace()
    at == until && depth == 0
  }

  override def name(): Unit = {
    text()
    expect(':')
  }

  override def text(): Unit = {
    expect('"')
    stringBegin = at
    skipWords()
    while (here != '"' && bytes(at) != '\\') at += 1
    if (bytes(at) != '"') throw Unsupported // an escape
    stringEnd = at
    at += 1
  }

  /** Skips eight bytes at a time, as long as none of them is a quote or a backslash. */
  private def skipWords(): Unit =
    while (at + 8 <= until && isWithinText(words.getLong(at))) at += 8

  override def blob(): Unit = text()

  override def number(): Long = decimal(0)

  /** The service sends seconds with a fraction. */
  override def millis(): Long = decimal(3)

  override def skipNull(): Boolean = {
    val isNull = peek() == 'n'
    if (isNull) literal("null")
    isNull
  }

  override def entries(): Long = open('{', isMap = true)

  override def elements(): Long = open('[', isMap = false)

  /** The number of items is unknown: `left` is -1 at the first one. */
  override def hasMore(left: Long): Boolean = peek() match {
    case '}' => close(isMap = true)
    case ']' => close(isMap = false)
    case ',' if left < -1 =>
      at += 1
      true
    case _ if left == -1 => true
    case _ => throw Unsupported
  }

  override def skip(): Unit = peek() match {
    case '"' => checkedText()
    case '{' => skipItems(entries())
    case '[' => skipItems(elements())
    case 't' => literal("true")
    case 'f' => literal("false")
    case 'n' => literal("null")
    case _ =>
      numbers.skip(at)
      at = numbers.end
  }

  private def skipItems(count: Long): Unit = {
    var left = count
    val isMap = (nesting & 1) == 1
    while (hasMore(left)) {
      if (isMap) {
        name()
        checkText()
      }
      skip()
      left -= 1
    }
  }

  private def open(head: Char, isMap: Boolean): Long = {
    expect(head)
    depth += 1
    if (depth > MaxDepth) throw Unsupported
    nesting = nesting << 1 | (if (isMap) 1 else 0)
    -1
  }

  private def close(isMap: Boolean): Boolean = {
    if (depth == 0 || ((nesting & 1) == 1) != isMap) throw Unsupported
    nesting >>= 1
    depth -= 1
    at += 1
    false
  }

  private def expect(sign: Char): Unit = {
    if (peek() != sign) throw Unsupported
    at += 1
  }

  private def literal(word: String): Unit = {
    var i = 0
    while (i < word.length) {
      if (here != word.charAt(i)) throw Unsupported
      at += 1
      i += 1
    }
  }

  /** The next byte that is no white space. */
  private def peek(): Int = {
    skipSpace()
    here
  }

  private def here: Int = {
    if (at >= until) throw Unsupported
    bytes(at).toInt
  }

  private def skipSpace(): Unit =
    while (at < until && isSpace(bytes(at))) at += 1

  /** The number times ten to the power of `scale`, without the rest of its fraction. */
  private def decimal(scale: Int): Long = {
    skipSpace()
    val number = numbers.read(at, scale)
    at = numbers.end
    number
  }
}

private object JsonReader {
  private val EachByte = 0x0101010101010101L
  private val Quotes = '"' * EachByte
  private val Backslashes = '\\' * EachByte

  /** Whether none of the eight bytes is a quote or a backslash. */
  private def isWithinText(word: Long): Boolean =
    (zeros(word ^ Quotes) | zeros(word ^ Backslashes)) == 0

  /** A word that is not 0 if one of the eight bytes is 0. */
  private def zeros(word: Long): Long = (word - EachByte) & ~word & 0x80 * EachByte

  private def isSpace(byte: Byte): Boolean =
    byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'
}
