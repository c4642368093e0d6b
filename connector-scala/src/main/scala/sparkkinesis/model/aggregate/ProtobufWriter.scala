package sparkkinesis.model.aggregate

import java.util.Arrays

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
