package sparkkinesis.model.aggregate

import java.util.Arrays

/** Bytes of a [[https://protobuf.dev/programming-guides/encoding/ protobuf]] message that grows. */
private[model] final class ProtobufBytes {
  import ProtobufBytes._

  private var bytes = Array.emptyByteArray
  private var count = 0

  def length: Int = count

  /** @param value not negative, as all numbers here; a field's tag is one, too */
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

  /** The value of a field of bytes or text: its length, its bytes. */
  def span(content: Array[Byte]): Unit = {
    varint(content.length)
    reserve(content.length)
    System.arraycopy(content, 0, bytes, count, content.length)
    count += content.length
  }

  /** @return behind what was copied */
  def copyTo(target: Array[Byte], begin: Int): Int = {
    System.arraycopy(bytes, 0, target, begin, count)
    begin + count
  }

  /** Keeps no memory to speak of: many of these wait for a long time. */
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

private[model] object ProtobufBytes {
  private val FirstBytes = 256
  private val KeptBytes = 4096
  private val MaxVarintLength = 5

  /** Bytes of a number that is not negative. */
  def varintLength(value: Int): Int =
    (Integer.SIZE + 6 - Integer.numberOfLeadingZeros(value | 1)) / 7

  /** Bytes of a field's value that is so many bytes, or text or a message. */
  def spanLength(length: Int): Int = varintLength(length) + length
}
