package sparkkinesis.client.aws.wire

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import scala.annotation.switch

/**
 * Reads the items of JSON ([[https://www.rfc-editor.org/rfc/rfc8259 RFC 8259]]) in UTF-8. A blob is
 * a text in base64, which it decodes where it is, as it does with the escapes of a text: both only
 * get shorter. So it can read its bytes only once.
 *
 * @param bytes belongs to this reader and to what refers to its strings
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
    stringEnd = if (bytes(at) == '"') at else unescape()
    at += 1
  }

  /** Skips eight bytes at a time, as long as none of them is a quote or a backslash. */
  private def skipWords(): Unit =
    while (at + 8 <= until && isWithinText(words.getLong(at))) at += 8

  override def blob(): Unit = {
    text()
    val encoded = ByteBuffer.wrap(bytes, stringBegin, stringEnd - stringBegin)
    val decoded =
      try Base64.getDecoder.decode(encoded) // the JVM replaces it by vector instructions
      catch { case _: IllegalArgumentException => throw Unsupported }
    stringEnd = stringBegin + decoded.remaining
    decoded.get(bytes, stringBegin, decoded.remaining): Unit
  }

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
    case _ => number(): Unit
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

  /** @return index after the last byte of the text; `at` is then at its quote */
  private def unescape(): Int = {
    val text = new EscapedText(bytes, at, until)
    text.read()
    at = text.at
    text.end
  }

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
