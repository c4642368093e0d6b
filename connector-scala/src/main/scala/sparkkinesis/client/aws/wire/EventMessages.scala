package sparkkinesis.client.aws.wire

import java.nio.{BufferUnderflowException, ByteBuffer}
import java.util.zip.CRC32

import scala.util.control.NoStackTrace

/**
 * Puts messages of AWS's event stream together from a body that arrives in parts. A message takes
 * memory only from its first bytes on, and only as much as it has. Used by one thread at a time.
 */
private[aws] final class EventMessages {
  import EventMessage.{ChecksumBytes, PreludeBytes}
  import EventMessages._

  private val prelude = new Array[Byte](PreludeBytes)
  private var message = prelude // what is filled now
  private var filled = 0

  /** Whether the last part ended within a message. */
  def isWithin: Boolean = filled > 0

  /**
   * Takes bytes up to the end of a message. If it is `None`, all bytes were taken.
   *
   * @throws EventMessages.Corrupt after which nothing may be added
   */
  def next(part: ByteBuffer): Option[EventMessage] = {
    fill(part)
    if ((message eq prelude) && filled == PreludeBytes) {
      message = java.util.Arrays.copyOf(prelude, checkedLength())
      fill(part)
    }
    if ((message ne prelude) && filled == message.length) {
      val whole = message
      message = prelude
      filled = 0
      Some(parsed(whole))
    } else None
  }

  private def fill(part: ByteBuffer): Unit = {
    val taken = math.min(part.remaining, message.length - filled)
    part.get(message, filled, taken)
    filled += taken
  }

  private def checkedLength(): Int = {
    val in = ByteBuffer.wrap(prelude)
    val (length, headers) = (in.getInt(), in.getInt())
    check(prelude, in.position())
    if (headers < 0 || headers > MostHeaderBytes)
      throw new Corrupt(s"A message has headers of ${headers & 0xffffffffL} bytes.")
    val payload = length - PreludeBytes - headers - ChecksumBytes
    if (length < 0 || payload < 0 || payload > MostPayloadBytes)
      throw new Corrupt(s"A message has a length of ${length & 0xffffffffL} bytes.")
    length
  }

  private def parsed(bytes: Array[Byte]): EventMessage = {
    check(bytes, bytes.length - ChecksumBytes)
    try EventMessage.parse(bytes, ByteBuffer.wrap(bytes).getInt(Integer.BYTES))
    catch {
      case _: IndexOutOfBoundsException | _: BufferUnderflowException =>
        throw new Corrupt("A message has malformed headers.")
    }
  }

  /** @param at of the checksum, which follows the bytes that it is of */
  private def check(bytes: Array[Byte], at: Int): Unit = {
    val sum = new CRC32
    sum.update(bytes, 0, at)
    if (ByteBuffer.wrap(bytes).getInt(at) != sum.getValue.toInt)
      throw new Corrupt("A message has a wrong checksum.")
  }
}

private[aws] object EventMessages {

  /** The bytes are not those that the service has sent. */
  final class Corrupt(message: String) extends RuntimeException(message) with NoStackTrace

  /** The limits of the AWS SDK (`Prelude` of its library for event streams). */
  private val MostHeaderBytes = 128 * 1024
  private val MostPayloadBytes = 24 * 1024 * 1024
}
