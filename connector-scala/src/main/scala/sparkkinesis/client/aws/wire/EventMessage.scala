package sparkkinesis.client.aws.wire

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

/**
 * A message of AWS's event stream ([[https://smithy.io/2.0/aws/amazon-eventstream.html the
 * format]]).
 *
 * @param bytes the whole message
 * @param headers those that are texts
 */
private[aws] final class EventMessage(
    val bytes: Array[Byte],
    val headers: Map[String, String],
    val payloadBegin: Int
) {
  def payloadEnd: Int = bytes.length - EventMessage.ChecksumBytes

  /** A copy. */
  def payload: Array[Byte] = Arrays.copyOfRange(bytes, payloadBegin, payloadEnd)

  /** `event`, `exception` or `error`. */
  def kind: Option[String] = headers.get(":message-type")
}

private[aws] object EventMessage {

  /** The lengths of the message and of its headers, and their checksum. */
  val PreludeBytes = 12
  private[wire] val ChecksumBytes = 4

  /**
   * @throws IndexOutOfBoundsException if the headers are malformed, like `BufferUnderflowException`
   */
  private[wire] def parse(bytes: Array[Byte], headerBytes: Int): EventMessage = {
    val payload = PreludeBytes + headerBytes
    val in = ByteBuffer.wrap(bytes, PreludeBytes, headerBytes)
    var headers = Map.empty[String, String]
    while (in.hasRemaining) {
      val name = text(in, in.get() & 0xff)
      in.get() match {
        case TextType => headers += name -> text(in, in.getShort() & 0xffff)
        case BytesType => skip(in, in.getShort() & 0xffff)
        case other => skip(in, SizeOfType(other.toInt))
      }
    }
    new EventMessage(bytes, headers, payload)
  }

  private def text(in: ByteBuffer, length: Int): String = {
    val begin = in.position()
    skip(in, length)
    new String(in.array, begin, length, UTF_8)
  }

  private def skip(in: ByteBuffer, length: Int): Unit = {
    if (length > in.remaining) throw new IndexOutOfBoundsException
    in.position(in.position() + length): Unit
  }

  private val BytesType: Byte = 6
  private val TextType: Byte = 7

  /**
   * Bytes of a value of each type: true, false, byte, short, int, long, bytes, text, time, UUID.
   */
  private val SizeOfType = Array(0, 0, 1, 2, 4, 8, -1, -1, 8, 16)
}
