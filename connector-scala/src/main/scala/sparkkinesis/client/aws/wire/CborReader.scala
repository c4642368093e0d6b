package sparkkinesis.client.aws.wire

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NoStackTrace

/**
 * Reads the items of CBOR ([[https://www.rfc-editor.org/rfc/rfc8949 RFC 8949]]) one after the
 * other. It gives the place of a string in the bytes instead of a copy. It throws
 * [[CborReader.Unsupported]] for an item of another type than requested and for a string in
 * chunks, and `IndexOutOfBoundsException` if the bytes end within an item.
 *
 * Jackson's parser costs twice as much per record (docs/adr/0013).
 */
private[aws] final class CborReader(bytes: Array[Byte]) {
  import CborReader._

  private var at = 0
  private var kind = 0
  private var info = 0
  private var stringBegin = 0
  private var stringEnd = 0

  /** Index of the first byte of the last string. */
  def begin: Int = stringBegin

  /** Index after the last byte of the last string. */
  def end: Int = stringEnd

  def isAtEnd: Boolean = at == bytes.length

  def text(): Unit = string(Text)

  /** Reads a text and checks that it is UTF-8. */
  def checkedText(): Unit = {
    text()
    checkText()
  }

  /** Checks that the last string is UTF-8. */
  def checkText(): Unit = if (!isAscii) requireUtf8()

  def blob(): Unit = string(Bytes)

  /** Reads an integer, or the whole part of a floating-point number. */
  def number(): Long = {
    head()
    kind match {
      case Unsigned => argument()
      case Negative => -1 - argument()
      case Simple if info == Float64 => whole(java.lang.Double.longBitsToDouble(argument()))
      case Simple if info == Float32 =>
        whole(java.lang.Float.intBitsToFloat(argument().toInt).toDouble)
      case _ => throw Unsupported
    }
  }

  /** Reads an unsigned integer and checks that it is at most `most`. */
  def checkCount(most: Long): Unit = {
    head()
    if (kind != Unsigned || argument() > most) throw Unsupported
  }

  /** Refuses numbers that are too large for a `Long`, infinite or not a number. */
  private def whole(number: Double): Long =
    if (math.abs(number) < MaxWhole) number.toLong else throw Unsupported

  /**
   * Reads the head of a map. While `hasMore`, read a name with `text` and a value. This is a loop and not
   * a function that takes one, because it runs once per record.
   *
   * @return number of entries, for `hasMore`
   */
  def entries(): Long = items(Entries)

  /** Reads the head of an array. While `hasMore`, read an element. */
  def elements(): Long = items(Elements)

  /**
   * Whether a map or an array has another item.
   *
   * @param left the number from its head, minus the number of items since
   */
  def hasMore(left: Long): Boolean =
    if (left >= 0) left > 0
    else {
      val isEnd = bytes(at) == Break
      if (isEnd) at += 1
      !isEnd
    }

  /** The number of items, or a negative one if a break follows the last item. */
  private def items(expected: Int): Long = {
    head()
    if (kind != expected) throw Unsupported
    if (info == Indefinite) -1 else argument()
  }

  /** Skips an item of any type. */
  def skip(): Unit = skip(MaxDepth)

  private def skip(depth: Int): Unit = {
    if (depth == 0) throw Unsupported
    val start = at
    head()
    kind match {
      case Text =>
        at = start
        checkedText()
      case Bytes =>
        at = start
        blob()
      case Elements =>
        at = start
        skipItems(elements(), depth, isMap = false)
      case Entries =>
        at = start
        skipItems(entries(), depth, isMap = true)
      case Simple if info == OneByte => throw Unsupported // no such value is defined
      case _ =>
        argument()
        ()
    }
  }

  private def skipItems(count: Long, depth: Int, isMap: Boolean): Unit = {
    var left = count
    while (hasMore(left)) {
      if (isMap) checkedText()
      skip(depth - 1)
      left -= 1
    }
  }

  private def string(expected: Int): Unit = {
    head()
    if (kind != expected) throw Unsupported
    val length = argument()
    if (length > bytes.length - at) throw Unsupported
    stringBegin = at
    at += length.toInt
    stringEnd = at
  }

  private def isAscii: Boolean = {
    var i = stringBegin
    while (i < stringEnd && bytes(i) >= 0) i += 1
    i == stringEnd
  }

  private def requireUtf8(): Unit =
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, stringBegin, stringEnd - stringBegin))
      ()
    } catch { case _: CharacterCodingException => throw Unsupported }

  /** Reads the type of the next item. Skips the tag of a time, and refuses every other tag. */
  private def head(): Unit = {
    next()
    if (kind == Tag) {
      if (argument() != EpochTime) throw Unsupported
      next()
      if (kind == Tag) throw Unsupported
    }
  }

  private def next(): Unit = {
    kind = (bytes(at) & 0xff) >>> 5
    info = bytes(at) & 0x1f
    at += 1
  }

  /** The number in the head of an item: a value or a length. */
  private def argument(): Long =
    if (info < OneByte) info.toLong
    else if (info > EightBytes) throw Unsupported
    else {
      val until = at + (1 << (info - OneByte))
      var value = 0L
      while (at < until) {
        value = value << 8 | (bytes(at) & 0xffL)
        at += 1
      }
      if (value < 0 && kind != Simple) throw Unsupported // more than 63 bits
      value
    }
}

private[aws] object CborReader {
  object Unsupported extends RuntimeException with NoStackTrace

  private val Unsigned = 0
  private val Negative = 1
  private val Bytes = 2
  private val Text = 3
  private val Elements = 4
  private val Entries = 5
  private val Tag = 6
  private val Simple = 7

  private val EpochTime = 1L

  private val OneByte = 24
  private val EightBytes = 27
  private val Float32 = 26
  private val Float64 = 27
  private val Indefinite = 31
  private val Break = 0xff.toByte

  /** Far below the limit of a `Long`. */
  private val MaxWhole = 1e18

  /** Deepest nesting of items that are skipped. */
  private val MaxDepth = 32
}
