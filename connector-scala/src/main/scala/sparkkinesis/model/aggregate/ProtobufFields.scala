package sparkkinesis.model.aggregate

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.tailrec
import scala.util.control.NoStackTrace

/**
 * The fields of a [[https://protobuf.dev/programming-guides/encoding/ protobuf]] message, one after
 * the other, where they lie. Throws [[ProtobufFields.Malformed]] at what is no such message.
 */
private[model] final class ProtobufFields {
  import ProtobufFields._

  private var bytes = Array.emptyByteArray
  private var at = 0
  private var until = 0
  private var lastTag = 0
  private var spanBegin = 0

  /** Before the first field of the message that is `content` from `begin` until `end`. */
  def open(content: Array[Byte], begin: Int, end: Int): Unit = {
    bytes = content
    at = begin
    until = end
  }

  /** Comes to the next field's value, which must be read or skipped. */
  def next(): Boolean = at < until && {
    val read = varint()
    if (read >>> TagBits != 0 || read >>> WireTypeBits == 0) throw Malformed
    lastTag = read.toInt
    true
  }

  /** The last field's number and, in the three lowest bits, the kind of its value. */
  def tag: Int = lastTag

  /** Of the last span. */
  def begin: Int = spanBegin

  /** Behind all that was read. */
  def end: Int = at

  /** All 64 bits; what goes beyond is dropped. */
  def varint(): Long =
    if (at < until && bytes(at) >= 0) { // most are of one byte
      at += 1
      bytes(at - 1).toLong
    } else longVarint()

  private def longVarint(): Long = {
    var value = 0L
    var shift = 0
    var byte = 0
    do {
      if (shift > MaxVarintShift || at == until) throw Malformed
      byte = bytes(at).toInt
      at += 1
      value |= (byte & 0x7fL) << shift
      shift += 7
    } while (byte < 0)
    value
  }

  /** Bytes, text or a message: it lies from `begin` until `end`, until more is read. */
  def span(): Unit = {
    val length = varint()
    if (length < 0 || length > until - at) throw Malformed
    spanBegin = at
    at += length.toInt
  }

  /** A span that must be UTF-8. */
  def text(): Unit = {
    span()
    if (!isAscii) requireUtf8()
  }

  /** Over the value of a field nobody knows. */
  def skip(): Unit = skip(lastTag, MaxDepth)

  private def skip(tag: Int, depth: Int): Unit = tag & WireTypeMask match {
    case VarintType => varint(): Unit
    case EightBytesType => forward(8)
    case BytesType => span()
    case FourBytesType => forward(4)
    case GroupType if depth > 0 => skipGroup(tag, depth)
    case _ => throw Malformed
  }

  /** Fields up to the end that bears the group's own number. */
  @tailrec private def skipGroup(group: Int, depth: Int): Unit = {
    if (!next()) throw Malformed
    if (lastTag != group - GroupType + GroupEndType) {
      skip(lastTag, depth - 1)
      skipGroup(group, depth)
    }
  }

  private def forward(count: Int): Unit = {
    if (count > until - at) throw Malformed
    at += count
  }

  private def isAscii: Boolean = {
    var i = spanBegin
    while (i < at && bytes(i) >= 0) i += 1
    i == at
  }

  private def requireUtf8(): Unit =
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, spanBegin, at - spanBegin))
      ()
    } catch { case _: CharacterCodingException => throw Malformed }
}

private[model] object ProtobufFields {
  object Malformed extends RuntimeException with NoStackTrace

  private val WireTypeBits = 3
  private val WireTypeMask = (1 << WireTypeBits) - 1
  private val TagBits = 32

  private val VarintType = 0
  private val EightBytesType = 1
  private val BytesType = 2
  private val GroupType = 3
  private val GroupEndType = 4
  private val FourBytesType = 5

  /** Of ten bytes, seven bits each. */
  private val MaxVarintShift = 63

  /** Of groups in groups; other readers of protobuf stop there, too. */
  private val MaxDepth = 100
}
