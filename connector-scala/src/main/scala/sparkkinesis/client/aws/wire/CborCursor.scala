package sparkkinesis.client.aws.wire

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NoStackTrace

/**
 * A place in a CBOR text ([[https://www.rfc-editor.org/rfc/rfc8949 RFC 8949]]) that moves from item to
 * item. Of strings it tells where they lie. Throws [[CborCursor.Unusual]] at what it does not read
 * (strings in parts, what is of another kind than asked for), `IndexOutOfBoundsException` at the end of
 * the bytes.
 */
private[aws] final class CborCursor(bytes: Array[Byte]) {
  import CborCursor._

  private var at = 0
  private var kind = 0
  private var info = 0
  private var stringBegin = 0
  private var stringEnd = 0

  /** Of the last string. */
  def begin: Int = stringBegin

  /** Behind the last string. */
  def end: Int = stringEnd

  def isAtEnd: Boolean = at == bytes.length

  def text(): Unit = string(Text)

  /** A text that must be UTF-8. */
  def checkedText(): Unit = {
    text()
    checkText()
  }

  /** The last string must be UTF-8. */
  def checkText(): Unit = if (!isAscii) requireUtf8()

  def blob(): Unit = string(Bytes)

  /** An integer, or what is whole of a floating-point number. */
  def number(): Long = {
    head()
    kind match {
      case Unsigned => argument()
      case Negative => -1 - argument()
      case Simple if info == Float64 => whole(java.lang.Double.longBitsToDouble(argument()))
      case Simple if info == Float32 =>
        whole(java.lang.Float.intBitsToFloat(argument().toInt).toDouble)
      case _ => throw Unusual
    }
  }

  /** A whole number from 0 on, and none else. */
  def checkCount(most: Long): Unit = {
    head()
    if (kind != Unsigned || argument() > most) throw Unusual
  }

  /** Not of what is no number, or too large. */
  private def whole(number: Double): Long =
    if (math.abs(number) < MaxWhole) number.toLong else throw Unusual

  /** Calls `value` behind each name of a map; `begin` and `end` are the name's. */
  def foreachEntry(value: () => Unit): Unit = foreach(Entries) { () =>
    text()
    value()
  }

  def foreachElement(element: () => Unit): Unit = foreach(Elements)(element)

  /** Over an item of any kind. */
  def skip(): Unit = skip(MaxDepth)

  private def skip(depth: Int): Unit = {
    if (depth == 0) throw Unusual
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
        foreachElement(() => skip(depth - 1))
      case Entries =>
        at = start
        foreach(Entries) { () =>
          checkedText()
          skip(depth - 1)
        }
      case Simple if info == OneByte => throw Unusual // none is in use
      case _ =>
        argument()
        ()
    }
  }

  private def foreach(expected: Int)(item: () => Unit): Unit = {
    head()
    if (kind != expected) throw Unusual
    if (info == Indefinite) {
      while (bytes(at) != Break) item()
      at += 1
    } else {
      var left = argument()
      while (left > 0) {
        item()
        left -= 1
      }
    }
  }

  private def string(expected: Int): Unit = {
    head()
    if (kind != expected) throw Unusual
    val length = argument()
    if (length > bytes.length - at) throw Unusual
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
    } catch { case _: CharacterCodingException => throw Unusual }

  /** The next item's kind; that it is a time is passed over, other tags change what it is. */
  private def head(): Unit = {
    next()
    if (kind == Tag) {
      if (argument() != EpochTime) throw Unusual
      next()
      if (kind == Tag) throw Unusual
    }
  }

  private def next(): Unit = {
    kind = (bytes(at) & 0xff) >>> 5
    info = bytes(at) & 0x1f
    at += 1
  }

  /** The number in an item's head. */
  private def argument(): Long =
    if (info < OneByte) info.toLong
    else if (info > EightBytes) throw Unusual
    else {
      val until = at + (1 << (info - OneByte))
      var value = 0L
      while (at < until) {
        value = value << 8 | (bytes(at) & 0xffL)
        at += 1
      }
      if (value < 0 && kind != Simple) throw Unusual // of 64 bits, all used
      value
    }
}

private[aws] object CborCursor {
  object Unusual extends RuntimeException with NoStackTrace

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

  /** Well within a `Long`. */
  private val MaxWhole = 1e18

  /** Of what is skipped. */
  private val MaxDepth = 32
}
