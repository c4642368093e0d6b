package sparkkinesis.model.aggregate

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.annotation.tailrec
import scala.util.control.NoStackTrace

/**
 * Reads the fields of a [[https://protobuf.dev/programming-guides/encoding/ protobuf]] message one
 * after the other, without a copy. Throws [[ProtobufReader.Malformed]] if the message is malformed.
 */
private[model] final class ProtobufReader {
  import ProtobufReader._

  private var bytes = Array.emptyByteArray
  private var at = 0
  private var until = 0
  private var lastTag = 0
  private var spanBegin = 0

  /** Opens the message in `content` from `begin` until `end`, before its first field. */
  def open(content: Array[Byte], begin: Int, end: Int): Unit = {
    bytes = content
    at = begin
    until = end
  }

  /** Moves to the value of the next field. The caller must read or skip it. */
  def next(): Boolean = at < until && {
    val read = varint()
    if (read >>> TagBits != 0 || read >>> WireTypeBits == 0) throw Malformed
    lastTag = read.toInt
    true
  }

  /** Number of the last field and, in the three lowest bits, the type of its value. */
  def tag: Int = lastTag

  /** Index of the first byte of the last span. */
  def begin: Int = spanBegin

  /** Index after the last byte read. */
  def end: Int = at

  /** Reads a number of 64 bits. Drops further bits. */
  def varint(): Long =
    if (at < until && bytes(at) >= 0) { // most numbers have one byte
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

  /** Reads bytes, text or a message. It is between `begin` and `end` until the next read. */
  def span(): Unit = {
    val length = varint()
    if (length < 0 || length > until - at) throw Malformed
    spanBegin = at
    at += length.toInt
  }

  /** Reads a span and checks that it is UTF-8 of at most `most` characters. */
  def text(most: Int): Unit = {
    span()
    if (!isAscii) requireUtf8()
    if (at - spanBegin > most && characters > most) throw Malformed
  }

  /** Skips the value of an unknown field. */
  def skip(): Unit = skip(lastTag, MaxDepth)

  private def skip(tag: Int, depth: Int): Unit = tag & WireTypeMask match {
    case VarintType => varint(): Unit
    case EightBytesType => forward(8)
    case BytesType => span()
    case FourBytesType => forward(4)
    case GroupType if depth > 0 => skipGroup(tag, depth)
    case _ => throw Malformed
  }

  /** Skips fields up to the end of the group, which has the group's number. */
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

  /** Bytes that do not continue a character. */
  private def characters: Int = (spanBegin until at).count(i => (bytes(i) & 0xc0) != 0x80)

  private def requireUtf8(): Unit =
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, spanBegin, at - spanBegin))
      ()
    } catch { case _: CharacterCodingException => throw Malformed }
}

private[model] object ProtobufReader {
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

  /** Shift of the last of ten bytes with seven bits each. */
  private val MaxVarintShift = 63

  /** Deepest nesting of groups, as in other protobuf libraries. */
  private val MaxDepth = 100
}

/**
 * Writes a [[https://protobuf.dev/programming-guides/encoding/ protobuf]] message into an array
 * that grows.
 */
private[model] final class ProtobufWriter {
  import ProtobufWriter._

  private var bytes = Array.emptyByteArray
  private var count = 0

  def length: Int = count

  /** @param value a number or the tag of a field; not negative */
  def varint(value: Int): Unit = {
    reserve(MaxVarintLength)
    var rest = value
    while (rest > 0x7f) {
      bytes(count) = (rest | 0x80).toByte
      count += 1
      rest >>>= 7
    }
    bytes(count) = rest.toByte
    count += 1
  }

  /** Writes the value of a field of type bytes or text: its length and its bytes. */
  def span(content: Array[Byte]): Unit = {
    varint(content.length)
    raw(content)
  }

  /** Writes bytes that are encoded already. */
  def raw(content: Array[Byte]): Unit = {
    reserve(content.length)
    System.arraycopy(content, 0, bytes, count, content.length)
    count += content.length
  }

  def toArray: Array[Byte] = Arrays.copyOf(bytes, count)

  /** @return index after the last byte copied */
  def copyTo(target: Array[Byte], begin: Int): Int = {
    System.arraycopy(bytes, 0, target, begin, count)
    begin + count
  }

  /** Releases a large array, because many writers stay unused for long. */
  def clear(): Unit = {
    count = 0
    if (bytes.length > KeptBytes) bytes = Array.emptyByteArray
  }

  private def reserve(more: Int): Unit =
    if (more > bytes.length - count) {
      val least = Math.addExact(count, more)
      bytes = Arrays.copyOf(bytes, math.max(least, math.max(bytes.length * 2, FirstBytes)))
    }
}

private[model] object ProtobufWriter {
  private val FirstBytes = 256
  private val KeptBytes = 4096
  private val MaxVarintLength = 5

  /** Number of bytes of a number, which must not be negative. */
  def varintLength(value: Int): Int =
    (Integer.SIZE + 6 - Integer.numberOfLeadingZeros(value | 1)) / 7

  /** Number of bytes of a value of type bytes, text or message with its length. */
  def spanLength(length: Int): Int = varintLength(length) + length
}
